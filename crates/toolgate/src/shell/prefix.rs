//! Whether a command begins with the words of a rule.

use super::doubt;
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

    /// Whether the command contains the words of a prefix where they may not be data. It may then run them.
    #[must_use]
    pub fn could_hold(&self, prefix: &str) -> bool {
        // Most commands have no such words.
        if self.doubts.is_empty() {
            return false;
        }
        let wanted = shlex::split(prefix).unwrap_or_else(|| prefix.split_whitespace().map(str::to_owned).collect());
        self.holds(&wanted, Likeness::Word) || self.lends(&wanted)
    }

    /// Whether a variable is the program of a prefix, and its other words stand anywhere: `make CC=npm CFLAGS=publish`. What puts them together
    /// is another program.
    fn lends(&self, wanted: &[String]) -> bool {
        let Some((program, arguments)) = wanted.split_first().filter(|(_, arguments)| !arguments.is_empty()) else {
            return false;
        };
        let is_data = self.program().is_some_and(doubt::is_known);
        let words = || self.words.iter().skip(1).map(Word::shown);
        let given = words().filter(|_| !is_data).filter_map(|word| word.split_once('='));
        let set = self.assignments.iter().filter_map(|assignment| assignment.split_once('='));
        let values: Vec<&str> =
            set.chain(given).map(|(_, value)| value.trim_matches(['\'', '"'])).filter(|it| !it.is_empty()).collect();
        let wanted = |program| Wanted { program, arguments: &[], likeness: Likeness::Word };
        values.iter().any(|value| wanted(program).is_program(value))
            && arguments.iter().all(|argument| {
                let is_argument = |text: &str| text.split(|sign: char| sign.is_whitespace()).any(|it| it == argument);
                values.iter().any(|value| is_argument(value)) || words().any(is_argument)
            })
    }

    /// Like [`could_hold`](Self::could_hold), but `*` in the pattern matches anything.
    #[must_use]
    pub fn could_hold_like(&self, pattern: &str) -> bool {
        let wanted = || pattern.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        !self.doubts.is_empty() && self.holds(&wanted(), Likeness::Pattern)
    }

    /// Such words as texts. A command may begin at each of them.
    pub fn held_texts(&self) -> impl Iterator<Item = String> {
        let texts = |at: usize| {
            let words = self.doubts.iter().skip(at).take(SHELL_RUNNER_WORDS_MAX);
            let words = words.map(Word::shown).take_while(|word| !word.is_empty());
            words.collect::<Vec<_>>().join(" ")
        };
        (0..self.doubts.len()).map(texts).filter(|text| !text.is_empty())
    }

    fn holds(&self, wanted: &[String], likeness: Likeness) -> bool {
        let assignments = wanted.iter().take_while(|word| is_assignment(word)).count();
        let Some((program, arguments)) = wanted.get(assignments..).and_then(<[String]>::split_first) else {
            return false;
        };
        let wanted = Wanted { program, arguments, likeness };
        (0..self.doubts.len()).any(|at| self.doubts.get(at..).is_some_and(|words| wanted.could_be(words)))
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
            (None, Self::Word) => wanted.starts_with(&word.head) && !(wanted.starts_with('-') && word.names_files()),
            (None, Self::Pattern) => {
                let start = wanted.split('*').next().unwrap_or_default();
                start.starts_with(&word.head) || word.head.starts_with(start)
            }
        }
    }

    /// Whether the first arguments of a command may be these. With `skips`, options may precede each of them, as in
    /// `npm --silent publish`; whether these options take a value is unknown.
    fn could_continue(self, words: &[Word], wanted: &[String], skips: Skips) -> bool {
        // Possible positions of the next one.
        let mut places = vec![0];
        for (count, wanted) in wanted.iter().enumerate() {
            let may_skip = match skips {
                Skips::Nothing => false,
                Skips::LaterOptions => count > 0,
                Skips::Options | Skips::Anything => true,
            };
            if may_skip {
                skip(words, wanted, skips, &mut places);
            }
            let fitting: Vec<usize> = places
                .into_iter()
                .filter(|at| words.get(*at).is_some_and(|word| self.could_be(word, wanted)))
                .collect();
            // The word may expand to all remaining ones.
            if fitting.iter().any(|at| words.get(*at).is_some_and(|word| word.may_split)) {
                return true;
            }
            if fitting.is_empty() {
                return false;
            }
            places = fitting.into_iter().map(|at| at + 1).collect();
        }
        true
    }
}

/// Words that a command may have between the words of a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skips {
    /// None.
    Nothing,
    /// Options, but not before the first word.
    LaterOptions,
    /// Options.
    Options,
    /// Any words: `make build deploy` makes both.
    Anything,
}

/// Adds the positions after options.
fn skip(words: &[Word], wanted: &str, skips: Skips, places: &mut Vec<usize>) {
    let Some(first) = places.iter().min().copied() else { return };
    let mut reached = vec![false; words.len().min(first + SHELL_RUNNER_WORDS_MAX) + 1];
    places.iter().for_each(|at| {
        if let Some(place) = reached.get_mut(*at) {
            *place = true;
        }
    });
    for at in first..reached.len() {
        let Some(word) = words.get(at).filter(|_| reached.get(at) == Some(&true)) else { continue };
        let head = word.head.as_str();
        let is_end = head == "--" && wanted.starts_with('-');
        let is_option = head.len() > 1 && head.starts_with(['-', '+']) && !is_end;
        let may_have_value = is_option
            && head != "--"
            && !head.contains('=')
            && words.get(at + 1).is_some_and(|next| !next.head.starts_with('-'));
        let skipped = [(is_option || skips == Skips::Anything).then_some(at + 1), may_have_value.then_some(at + 2)];
        for place in skipped.into_iter().flatten() {
            if let Some(place) = reached.get_mut(place) {
                *place = true;
            }
        }
    }
    *places = (0..reached.len()).filter(|at| reached.get(*at) == Some(&true)).collect();
}

/// Programs that act on each of their operands.
const MAKING: [&str; 22] = [
    "ant", "bmake", "doit", "gmake", "gradle", "gradlew", "grunt", "gulp", "inv", "invoke", "just", "mage", "make",
    "mvn", "mvnw", "ninja", "nmake", "nox", "rake", "scons", "task", "waf",
];

/// The words of a rule that restricts.
struct Wanted<'a> {
    program: &'a str,
    arguments: &'a [String],
    likeness: Likeness,
}

impl Wanted<'_> {
    fn could_be(&self, words: &[Word]) -> bool {
        let Some((own, words)) = words.split_first() else { return false };
        // `git-push` in the folder of such programs is `git push`.
        if let Some(subcommand) = program_name(own.shown()).strip_prefix("git-").filter(|_| self.is_program("git")) {
            let words: Vec<Word> =
                std::iter::once(Word::plain(subcommand, subcommand)).chain(words.iter().cloned()).collect();
            return self.likeness.could_continue(&words, self.arguments, Skips::LaterOptions);
        }
        if !self.is_program(own.shown()) {
            return false;
        }
        match program_name(own.shown()).to_ascii_lowercase().as_str() {
            "rm" => self.likeness.could_continue(words, self.arguments, Skips::Nothing) || self.removes_alike(words),
            "git" => {
                self.likeness.could_continue(words, self.arguments, Skips::LaterOptions) || self.could_be_git(words)
            }
            "npm" if self.is_shortened(words) => true,
            own if MAKING.contains(&own) => self.likeness.could_continue(words, self.arguments, Skips::Anything),
            _ => self.likeness.could_continue(words, self.arguments, Skips::Options),
        }
    }

    fn is_program(&self, own: &str) -> bool {
        // `npx npm@9 publish`: a program with its version.
        let bare = own.rsplit_once('@').map(|(name, _)| name).filter(|name| !name.is_empty());
        self.is_named(own) || bare.is_some_and(|name| self.is_named(name))
    }

    fn is_named(&self, own: &str) -> bool {
        let (name, wanted) = (program_name(own), program_name(self.program));
        match self.likeness {
            Likeness::Word => {
                own.eq_ignore_ascii_case(self.program)
                    || (!self.program.contains('/') && name.eq_ignore_ascii_case(wanted))
            }
            Likeness::Pattern => {
                let (own, program) = (own.to_ascii_lowercase(), self.program.to_ascii_lowercase());
                glob(&program, &own) || (!program.contains('/') && glob(program_name(&program), program_name(&own)))
            }
        }
    }

    /// `npm publ`: `npm` accepts an unambiguous beginning of a subcommand.
    fn is_shortened(&self, words: &[Word]) -> bool {
        const WHOLE: [&str; 6] = ["install", "run", "dist", "exec", "test", "version"];
        let Some((wanted, rest)) = self.arguments.split_first() else { return false };
        let mut operands = words.iter().enumerate().filter(|(_, word)| !word.head.starts_with('-'));
        let Some((at, written)) = operands.next() else { return false };
        let Some(text) = written.literal.as_deref() else { return false };
        let is_beginning =
            text.len() > 2 && wanted.len() > text.len() && wanted.starts_with(text) && !WHOLE.contains(&text);
        let behind = words.get(at + 1..).unwrap_or_default();
        is_beginning && self.likeness.could_continue(behind, rest, Skips::Options)
    }

    /// `rm -rf` in all its spellings: the same flags together, apart, in another order or by their long names, and the same files.
    fn removes_alike(&self, words: &[Word]) -> bool {
        let wanted: Vec<Word> = self.arguments.iter().map(|text| Word::plain(text, text)).collect();
        let (own, wanted) = (Removal::of(words), Removal::of(&wanted));
        let has = |flag: &char| own.flags.contains(flag) || own.may_have_more;
        let files: Vec<String> = wanted.files.iter().map(|file| file.shown().to_owned()).collect();
        !wanted.flags.is_empty()
            && wanted.flags.iter().all(has)
            && self.likeness.could_continue(&own.files, &files, Skips::Nothing)
    }

    /// Options before the subcommand do not make it another one.
    fn could_be_git(&self, words: &[Word]) -> bool {
        git::subcommands(words)
            .iter()
            .any(|rest| self.likeness.could_continue(rest, self.arguments, Skips::LaterOptions))
    }
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
                let could_be_flag = word.head.starts_with('-') || word.could_be_option("-");
                removal.may_have_more |= could_be_flag && !is_options_end;
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
