//! How risky a simple command is, as far as its words tell.

use super::git;
use super::prefix::Removal;
use super::script::{SimpleCommand, Word, Wrapping, program_name};
use crate::limits::SHELL_RUNNER_WORDS_MAX;

/// How risky a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// It destroys, or runs what its name does not say; this is why.
    Dangerous(&'static str),
    /// It only looks.
    KnownSafe,
    /// Neither.
    Unremarkable,
}

/// Programs that only look, whatever their arguments.
const LOOKING: [&str; 26] = [
    "cat", "cd", "cut", "echo", "expr", "false", "grep", "head", "id", "ls", "nl", "paste", "pwd", "rev", "seq",
    "stat", "tail", "tr", "true", "uname", "uniq", "wc", "which", "whoami", "numfmt", "tac",
];

const FIND_ACTIONS: [&str; 9] =
    ["-exec", "-execdir", "-ok", "-okdir", "-delete", "-fls", "-fprint", "-fprint0", "-fprintf"];

const GIT_OUTPUTS: [&str; 5] = ["--output", "--ext-diff", "--textconv", "--exec", "--paginate"];

/// Flags of `git branch` that list, without a value.
const BRANCH_LISTING: [&str; 17] = [
    "--list",
    "-l",
    "--show-current",
    "-a",
    "--all",
    "-r",
    "--remotes",
    "-v",
    "-vv",
    "--verbose",
    "--color",
    "--no-color",
    "--column",
    "--no-column",
    "-i",
    "--ignore-case",
    "--no-abbrev",
];

/// Flags of `git branch` that list, with a value behind `=`.
const BRANCH_LISTING_VALUED: [&str; 9] = [
    "--sort",
    "--format",
    "--contains",
    "--no-contains",
    "--merged",
    "--no-merged",
    "--points-at",
    "--color",
    "--abbrev",
];

impl SimpleCommand {
    /// How risky it is by itself; what it runs is another command.
    #[must_use]
    pub fn risk(&self) -> Risk {
        let Some(program) = self.program().map(str::to_ascii_lowercase) else { return Risk::Unremarkable };
        let arguments = Arguments(self.words.get(1..).unwrap_or_default());
        if let Some(reason) = danger(&program, &arguments).or_else(|| self.unseen_danger()) {
            return Risk::Dangerous(reason);
        }
        let is_certain = self.assignments.is_empty()
            && !self.is_redirected
            && self.wrapping == Wrapping::Nothing
            && !self.runs_unseen
            && self.words.iter().all(|word| word.literal.is_some());
        if is_certain && self.only_looks(&arguments) { Risk::KnownSafe } else { Risk::Unremarkable }
    }

    /// What a program that is there to run others may run: any of its words may begin that.
    fn unseen_danger(&self) -> Option<&'static str> {
        if self.runs_unseen && self.words.len() > SHELL_RUNNER_WORDS_MAX {
            return Some("it runs another program, in more words than are looked at");
        }
        let beginnings = if self.runs_unseen { 1..self.words.len() } else { 0..0 };
        beginnings.filter_map(|at| self.words.get(at..)?.split_first()).find_map(|(program, arguments)| {
            danger(&program_name(program.literal.as_deref()?).to_ascii_lowercase(), &Arguments(arguments))
        })
    }

    fn only_looks(&self, arguments: &Arguments<'_>) -> bool {
        let Some(written) = self.words.first().and_then(|word| word.literal.as_deref()) else { return false };
        match written {
            // Their dangerous flags were looked for before.
            "base64" | "find" => true,
            // A program of that name in the folder would be run otherwise.
            "/usr/bin/rg" | "/bin/rg" | "/usr/local/bin/rg" | "/opt/homebrew/bin/rg" => true,
            "git" => matches!(arguments.literals().next(), Some("status" | "log" | "diff" | "show" | "branch")),
            "sed" => prints_lines(arguments),
            // The second file is the one it writes.
            "uniq" => arguments.operands() < 2,
            _ => LOOKING.contains(&written),
        }
    }
}

/// The words behind a program.
struct Arguments<'a>(&'a [Word]);

impl Arguments<'_> {
    fn literals(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|word| word.literal.as_deref())
    }

    /// How many of them are operands: also `-`, and all behind `--`.
    fn operands(&self) -> usize {
        let mut is_options_end = false;
        let is_operand = |argument: &&str| {
            let is_operand = is_options_end || *argument == "-" || !argument.starts_with('-');
            is_options_end |= *argument == "--";
            is_operand
        };
        self.literals().filter(is_operand).count()
    }

    /// What the arguments begin with, also of those that are not known to their end.
    fn heads(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|word| word.head.as_str())
    }

    fn has(&self, names: &[&str]) -> bool {
        self.heads().any(|argument| {
            let written = argument.split('=').next().unwrap_or(argument);
            // The beginning of a long name is enough for most programs.
            let is_short_for =
                |name: &&str| written.len() > 2 && written.starts_with("--") && name.starts_with(written);
            names.contains(&written) || names.iter().any(is_short_for)
        })
    }

    /// Whether a partly unknown word may be one of these.
    fn could_have(&self, names: &[&str]) -> bool {
        let is_open = |word: &&Word| word.literal.is_none();
        self.0.iter().filter(is_open).any(|word| names.iter().any(|name| word.could_be_option(name)))
    }

    /// Whether a word may expand to anything.
    fn may_split(&self) -> bool {
        self.0.iter().any(Word::may_be_any)
    }

    /// Whether a letter is among the short flags, alone or with others.
    fn has_letter(&self, letter: char) -> bool {
        self.heads()
            .any(|argument| argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter))
    }
}

fn danger(program: &str, arguments: &Arguments<'_>) -> Option<&'static str> {
    match program {
        "rm" => {
            let removal = Removal::of(arguments.0);
            let has_force = removal.flags.contains(&'f') || removal.may_have_more;
            has_force.then_some("`rm` with force removes without asking")
        }
        "find" => (arguments.has(&FIND_ACTIONS) || arguments.could_have(&FIND_ACTIONS))
            .then_some("`find` runs, removes or writes for every file it finds"),
        "rg" => (arguments.has(&["--pre", "--hostname-bin", "--search-zip"])
            || arguments.has_letter('z')
            || arguments.may_split())
        .then_some("`rg` runs other programs with these flags"),
        "git" => git_danger(arguments),
        "base64" => (arguments.has(&["--output"]) || arguments.has_letter('o'))
            .then_some("`base64` writes a file with this flag"),
        "dd" => {
            let writes = |word: &Word| {
                word.head.starts_with("of=")
                    || (word.literal.is_none() && !word.names_files() && "of=".starts_with(&word.head))
            };
            arguments.0.iter().any(writes).then_some("`dd` overwrites what `of=` names")
        }
        "chmod" | "chown" | "chgrp" => {
            let is_recursive = arguments.has_letter('R')
                || arguments.has(&["--recursive"])
                || arguments.could_have(&["-R", "--recursive"]);
            (is_recursive && arguments.0.iter().any(could_be_root))
                .then_some("it changes the permissions of every file")
        }
        other if other == "mkfs" || other.starts_with("mkfs.") => Some("`mkfs` erases a disk"),
        _ => None,
    }
}

/// Whether a word is or may be the root folder: `/`, `//`, `/.`, `/x/..`, `/*`, and values only known at run time.
fn could_be_root(word: &Word) -> bool {
    let Some(text) = word.literal.as_deref() else {
        let rest = word.head.trim_start_matches(['/', '.']);
        let has_name = word.raw.rsplit_once('/').is_some_and(|(_, name)| {
            name.contains(char::is_alphanumeric) && !name.contains(['$', '}', ')', '`', '*', '?', '['])
        });
        return !has_name
            && !word.names_files()
            && rest.is_empty()
            && (word.head.is_empty() || word.head.starts_with('/'));
    };
    let parts = text.split('/').filter(|part| !matches!(*part, "" | "." | "*"));
    let depth = parts.fold(0_usize, |depth, part| if part == ".." { depth.saturating_sub(1) } else { depth + 1 });
    text.starts_with('/') && depth == 0
}

fn git_danger(arguments: &Arguments<'_>) -> Option<&'static str> {
    if git::has_option(arguments.0, &["-c", "--config-env"]) {
        return Some("`git` with a setting runs what the setting says");
    }
    if git::has_option(arguments.0, &["-p", "--paginate"]) {
        return Some("`git` runs a pager with this flag");
    }
    if git::has_option(arguments.0, &["--exec-path"]) {
        return Some("`git` runs the programs of another folder with this flag");
    }
    git::subcommands(arguments.0).into_iter().filter_map(<[Word]>::split_first).find_map(|(subcommand, rest)| {
        let rest = Arguments(rest);
        match subcommand.head.as_str() {
            "status" | "log" | "diff" | "show" if rest.has(&GIT_OUTPUTS) || rest.may_split() => {
                Some("`git` writes a file or runs a program with these flags")
            }
            "branch" if !rest.0.iter().all(lists_branches) => Some("`git branch` changes branches"),
            _ => None,
        }
    })
}

fn lists_branches(word: &Word) -> bool {
    let Some(text) = word.literal.as_deref() else { return false };
    let valued = text.split_once('=').is_some_and(|(name, _)| BRANCH_LISTING_VALUED.contains(&name));
    valued || BRANCH_LISTING.contains(&text)
}

/// `sed -n 5p` and `sed -n 5,9p`, with files or without.
fn prints_lines(arguments: &Arguments<'_>) -> bool {
    let words: Vec<&str> = arguments.literals().collect();
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit());
    let (Some(&"-n"), Some(script)) = (words.first(), words.get(1)) else { return false };
    let Some(range) = script.strip_suffix('p') else { return false };
    let is_range =
        range.split_once(',').map_or_else(|| is_number(range), |(first, last)| is_number(first) && is_number(last));
    is_range && words.iter().skip(2).all(|file| !file.starts_with('-'))
}
