//! Whether a command begins with the words of a rule.

use super::reach::Reach;
use super::script::{SimpleCommand, Word, program_name};
use super::words::is_assignment;

impl SimpleCommand {
    /// Whether it begins with the words of `prefix`: `git` begins `git status`, not `github`.
    ///
    /// A permission reaches a command whose words are written out and no assignment changes what they do. A restriction reaches every command
    /// that could receive these words: however they are quoted, from whatever folder the program comes, and where a word is only known when
    /// the command runs. An empty prefix restricts everything and permits nothing.
    #[must_use]
    pub fn begins_with(&self, prefix: &str, reach: Reach) -> bool {
        let wanted = shlex::split(prefix).unwrap_or_else(|| prefix.split_whitespace().map(str::to_owned).collect());
        match reach {
            Reach::Permission => self.certainly_begins_with(&wanted),
            Reach::Restriction => self.could_begin_with(&wanted),
        }
    }

    fn certainly_begins_with(&self, wanted: &[String]) -> bool {
        let Some((program, _)) = wanted.split_first() else { return false };
        self.assignments.is_empty()
            && self.words.len() >= wanted.len()
            && self.words.first().is_some_and(|word| word.raw == *program)
            && self.words.iter().zip(wanted).all(|(word, wanted)| word.literal.as_ref() == Some(wanted))
    }

    fn could_begin_with(&self, wanted: &[String]) -> bool {
        let assignments = wanted.iter().take_while(|word| is_assignment(word)).count();
        let Some((program, arguments)) = wanted.get(assignments..).and_then(<[String]>::split_first) else {
            return true;
        };
        let Some((own, words)) = self.words.split_first() else { return false };
        let literal = own.shown();
        let is_same_program = literal.eq_ignore_ascii_case(program)
            || (!program.contains('/') && program_name(literal).eq_ignore_ascii_case(program_name(program)));
        is_same_program && (could_continue(words, arguments) || removes_alike(program, words, arguments))
    }
}

/// Whether the command could receive these arguments first.
fn could_continue(words: &[Word], wanted: &[String]) -> bool {
    let mut words = words.iter();
    for wanted in wanted {
        match words.next() {
            // It may become all the words that are still wanted.
            Some(word) if could_be(word, wanted) && word.may_split => return true,
            Some(word) if could_be(word, wanted) => {}
            _ => return false,
        }
    }
    true
}

fn could_be(word: &Word, wanted: &str) -> bool {
    match &word.literal {
        Some(literal) => literal == wanted,
        // Nobody means an option with `*`.
        None => wanted.starts_with(&word.head) && !(wanted.starts_with('-') && is_pattern(word)),
    }
}

/// Whether it begins with a pattern of file names.
fn is_pattern(word: &Word) -> bool {
    word.literal.is_none() && word.raw.starts_with(['*', '?', '['])
}

/// `rm -rf` in all its spellings: the same flags together, apart, in another order or by their long names, and the same files.
fn removes_alike(program: &str, words: &[Word], wanted: &[String]) -> bool {
    if program_name(program) != "rm" {
        return false;
    }
    let wanted: Vec<Word> = wanted.iter().map(|text| Word::plain(text, text)).collect();
    let (own, wanted) = (Removal::of(words), Removal::of(&wanted));
    let has = |flag: &char| own.flags.contains(flag) || own.may_have_more;
    let files: Vec<String> = wanted.files.iter().map(|file| file.shown().to_owned()).collect();
    !wanted.flags.is_empty() && wanted.flags.iter().all(has) && could_continue(&own.files, &files)
}

/// The arguments of `rm`, told apart.
pub(super) struct Removal {
    /// Letters of its flags, `R` as `r`.
    pub(super) flags: Vec<char>,
    /// Whether a word that is not known may be a flag.
    pub(super) may_have_more: bool,
    files: Vec<Word>,
}

impl Removal {
    pub(super) fn of(words: &[Word]) -> Self {
        let mut removal = Self { flags: Vec::new(), may_have_more: false, files: Vec::new() };
        let mut is_options_end = false;
        for word in words {
            let Some(text) = word.literal.as_deref() else {
                let could_be_flag = word.head.starts_with('-') || word.head.is_empty();
                removal.may_have_more |= could_be_flag && !is_options_end && !is_pattern(word);
                removal.files.push(word.clone());
                continue;
            };
            match text.strip_prefix('-').filter(|flags| !flags.is_empty() && !is_options_end) {
                None => removal.files.push(word.clone()),
                Some("-") => is_options_end = true,
                Some(flags) => match flags.strip_prefix('-') {
                    // The shortest beginning that is not ambiguous is enough.
                    Some(long) if "recursive".starts_with(long) => removal.flags.push('r'),
                    Some(long) if "force".starts_with(long) => removal.flags.push('f'),
                    Some(_) => {}
                    None => removal.flags.extend(flags.chars().map(|flag| if flag == 'R' { 'r' } else { flag })),
                },
            }
        }
        removal
    }
}
