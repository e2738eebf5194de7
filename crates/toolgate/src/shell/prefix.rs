//! Whether a command begins with the words of a rule.

use super::git;
use super::reach::Reach;
use super::script::{SimpleCommand, Word, program_name};
use super::words::is_assignment;
use crate::glob::glob;
use crate::limits::SHELL_RUNNER_WORDS_MAX;

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
            Reach::Restriction => self.could_begin(&wanted, Likeness::Word),
        }
    }

    fn certainly_begins_with(&self, wanted: &[String]) -> bool {
        let Some((program, _)) = wanted.split_first() else { return false };
        self.assignments.is_empty()
            && self.words.len() >= wanted.len()
            && self.words.first().is_some_and(|word| word.raw == *program)
            && self.words.iter().zip(wanted).all(|(word, wanted)| word.literal.as_ref() == Some(wanted))
    }

    /// Whether it could begin with words like these, in which `*` stands for anything: for what restricts.
    #[must_use]
    pub fn could_be_like(&self, pattern: &str) -> bool {
        let wanted: Vec<String> = pattern.split_whitespace().map(str::to_owned).collect();
        self.could_begin(&wanted, Likeness::Pattern)
    }

    fn could_begin(&self, wanted: &[String], likeness: Likeness) -> bool {
        let assignments = wanted.iter().take_while(|word| is_assignment(word)).count();
        let Some((program, arguments)) = wanted.get(assignments..).and_then(<[String]>::split_first) else {
            return true;
        };
        let wanted = Wanted { program, arguments, likeness };
        // What a program runs that is there to run others may begin at any of its words.
        let beginnings = if self.runs_unseen { SHELL_RUNNER_WORDS_MAX } else { 1 };
        (0..beginnings).any(|at| self.words.get(at..).is_some_and(|words| wanted.could_be(words)))
    }
}

/// How the words of a rule are compared.
#[derive(Clone, Copy)]
enum Likeness {
    /// As they are.
    Word,
    /// `*` stands for anything.
    Pattern,
}

impl Likeness {
    fn is(self, wanted: &str, literal: &str) -> bool {
        match self {
            Self::Word => wanted == literal,
            Self::Pattern => glob(wanted, literal),
        }
    }

    fn could_be(self, word: &Word, wanted: &str) -> bool {
        match (&word.literal, self) {
            (Some(literal), _) => self.is(wanted, literal),
            // Nobody means an option with `*`.
            (None, Self::Word) => wanted.starts_with(&word.head) && !(wanted.starts_with('-') && is_pattern(word)),
            (None, Self::Pattern) => {
                let start = wanted.split('*').next().unwrap_or_default();
                start.starts_with(&word.head) || word.head.starts_with(start)
            }
        }
    }

    /// Whether a command could receive these arguments first.
    fn could_continue(self, words: &[Word], wanted: &[String]) -> bool {
        let mut words = words.iter();
        for wanted in wanted {
            match words.next() {
                // It may become all the words that are still wanted.
                Some(word) if self.could_be(word, wanted) && word.may_split => return true,
                Some(word) if self.could_be(word, wanted) => {}
                _ => return false,
            }
        }
        true
    }
}

/// The words of a rule that restricts.
struct Wanted<'a> {
    program: &'a str,
    arguments: &'a [String],
    likeness: Likeness,
}

impl Wanted<'_> {
    fn could_be(&self, words: &[Word]) -> bool {
        let Some((own, words)) = words.split_first() else { return false };
        let (own, program) = (own.shown().to_ascii_lowercase(), self.program.to_ascii_lowercase());
        let is_same_program = self.likeness.is(&program, &own)
            || (!program.contains('/') && self.likeness.is(program_name(&program), program_name(&own)));
        is_same_program
            && (self.likeness.could_continue(words, self.arguments)
                || (program_name(&own) == "rm" && self.removes_alike(words))
                || (program_name(&own) == "git" && self.could_be_git(words)))
    }

    /// `rm -rf` in all its spellings: the same flags together, apart, in another order or by their long names, and the same files.
    fn removes_alike(&self, words: &[Word]) -> bool {
        let wanted: Vec<Word> = self.arguments.iter().map(|text| Word::plain(text, text)).collect();
        let (own, wanted) = (Removal::of(words), Removal::of(&wanted));
        let has = |flag: &char| own.flags.contains(flag) || own.may_have_more;
        let files: Vec<String> = wanted.files.iter().map(|file| file.shown().to_owned()).collect();
        !wanted.flags.is_empty() && wanted.flags.iter().all(has) && self.likeness.could_continue(&own.files, &files)
    }

    /// Options before the subcommand do not make it another one.
    fn could_be_git(&self, words: &[Word]) -> bool {
        git::subcommands(words).iter().any(|rest| self.likeness.could_continue(rest, self.arguments))
    }
}

/// Whether it begins with a pattern of file names.
fn is_pattern(word: &Word) -> bool {
    word.literal.is_none() && word.raw.starts_with(['*', '?', '['])
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
