//! The words of `toolgate mcp add`, put in order: our options first, then the name, the command and all that belongs to it.
//!
//! Options of ours are ours wherever they stand before `--`. Any other word behind the command is an argument of the server, whether it
//! looks like an option or not. Which options there are and which take a value is asked of the definition of the command line.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};

/// Words in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sorted {
    /// The whole command line.
    pub(crate) words: Vec<OsString>,
    /// Options that stood behind the command of the server and were taken for ours.
    pub(crate) taken: Vec<String>,
}

/// Puts the words of a command line in order; those of another command stay as they are.
pub(crate) fn sort(words: Vec<OsString>, definition: impl FnOnce() -> Command) -> Sorted {
    let untouched = |words| Sorted { words, taken: Vec::new() };
    if !words.iter().any(|word| word == "add") {
        return untouched(words);
    }
    let mut definition = definition();
    definition.build();
    let Some(add) = place_of_add(&words, &definition) else { return untouched(words) };
    let command = definition.find_subcommand("mcp").and_then(|mcp| mcp.find_subcommand("add"));
    match command {
        Some(command) => sort_behind(words, add, command),
        None => untouched(words),
    }
}

/// The index of the word `add` in `toolgate … mcp … add`.
fn place_of_add(words: &[OsString], definition: &Command) -> Option<usize> {
    let mut expected = ["mcp", "add"].iter();
    let mut index = 1;
    while let Some(word) = words.get(index) {
        if let Some(option) = OurOption::of(word, definition) {
            index += 1 + usize::from(option.takes_next());
            continue;
        }
        if word != expected.next()? {
            return None;
        }
        if expected.as_slice().is_empty() {
            return Some(index);
        }
        index += 1;
    }
    None
}

fn sort_behind(words: Vec<OsString>, add: usize, command: &Command) -> Sorted {
    const NAME_AND_COMMAND: usize = 2;
    let mut sorted = Sorted::default();
    let mut positionals: Vec<OsString> = Vec::new();
    let mut rest = words.into_iter();
    sorted.words.extend(rest.by_ref().take(add + 1));
    let mut rest = rest.peekable();
    while let Some(word) = rest.next() {
        if word == "--" {
            positionals.extend(rest);
            break;
        }
        let is_behind = positionals.len() >= NAME_AND_COMMAND;
        let option = OurOption::of(&word, command).filter(|option| !(is_behind && option.is_likely_theirs()));
        match option {
            Some(option) => {
                if is_behind && option.arg.get_long() != Some("json") {
                    sorted.taken.push(option.typed.to_owned());
                }
                let value = match option.value {
                    Some(value) => Some(value.into()),
                    None if option.takes_next() => rest.next_if(|next| next != "--"),
                    None => None,
                };
                sorted.words.push(option.written(value.as_deref()));
            }
            // What is wrong with it is said by who reads the words.
            None if !is_behind && looks_like_option(&word) => sorted.words.push(word),
            None => positionals.push(word),
        }
    }
    sorted.words.push("--".into());
    sorted.words.extend(positionals);
    sorted
}

fn looks_like_option(word: &OsStr) -> bool {
    word.len() > 1 && word.as_encoded_bytes().starts_with(b"-")
}

/// One of our options as it was typed.
struct OurOption<'a> {
    arg: &'a Arg,
    typed: &'a str,
    /// What stands behind `=`.
    value: Option<&'a str>,
}

impl<'a> OurOption<'a> {
    /// `--name`, `--name=value`, `-n`, `-n=value`. Shorter ways of writing are not looked for: `-stdio` may be an option of the server.
    fn of(word: &'a OsStr, command: &'a Command) -> Option<Self> {
        let word = word.to_str()?;
        let (typed, value) = word.split_once('=').map_or((word, None), |(typed, value)| (typed, Some(value)));
        let mut letters = typed.strip_prefix('-')?.chars();
        let arg = match (typed.strip_prefix("--"), letters.next(), letters.next()) {
            (Some(long), ..) => command.get_arguments().find(|arg| is_called(arg, long))?,
            (None, Some(letter), None) => command.get_arguments().find(|arg| arg.get_short() == Some(letter))?,
            (None, ..) => return None,
        };
        Some(Self { arg, typed, value })
    }

    fn takes_next(&self) -> bool {
        self.value.is_none() && self.arg.get_action().takes_values()
    }

    /// Whether many programs use the option for something else: a host, `npx -y`, a log of the server.
    fn is_likely_theirs(&self) -> bool {
        ["-h", "-y", "--yolo", "--log-file"].contains(&self.typed)
    }

    /// One word that can be read wherever it stands.
    fn written(&self, value: Option<&OsStr>) -> OsString {
        let mut word: OsString =
            self.arg.get_long().map_or_else(|| self.typed.to_owned(), |long| format!("--{long}")).into();
        if let Some(value) = value {
            word.push("=");
            word.push(value);
        }
        word
    }
}

fn is_called(arg: &Arg, long: &str) -> bool {
    arg.get_long() == Some(long) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&long))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::sort;
    use crate::args::Cli;

    #[track_caller]
    fn check(line: &str, expected: &str, taken: &[&str]) {
        let sorted = sort(line.split(' ').map(Into::into).collect(), Cli::command);
        let words: Vec<_> = sorted.words.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join(" "), expected, "{line}");
        assert_eq!(sorted.taken, taken, "{line}");
    }

    #[test]
    fn options_are_found_wherever_they_stand() {
        let cases: [(&str, &str, &[&str]); 16] = [
            ("t mcp add s npx -y pkg --port 80", "t mcp add -- s npx -y pkg --port 80", &[]),
            ("t mcp add -s user s npx", "t mcp add --scope=user -- s npx", &[]),
            ("t mcp add s npx -y -e K=a=b pkg", "t mcp add --env=K=a=b -- s npx -y pkg", &["-e"]),
            ("t mcp add s npx -e K=1 -- -e K=2 -- x", "t mcp add --env=K=1 -- s npx -e K=2 -- x", &["-e"]),
            ("t mcp add s -- npx -y -s user", "t mcp add -- s npx -y -s user", &[]),
            ("t mcp add --type=sse s http://h", "t mcp add --transport=sse -- s http://h", &[]),
            (
                "t mcp add s npx --trust --timeout 5",
                "t mcp add --trust --timeout=5 -- s npx",
                &["--trust", "--timeout"],
            ),
            ("t --json mcp --config c add s npx", "t --json mcp --config c add -- s npx", &[]),
            ("t mcp add s npx --json --config c", "t mcp add --json --config=c -- s npx", &["--config"]),
            // Not ours: single-dash words of more letters, unknown ones, a host.
            ("t mcp add s npx -stdio -el -yes", "t mcp add -- s npx -stdio -el -yes", &[]),
            ("t mcp add s psql -h localhost", "t mcp add -- s psql -h localhost", &[]),
            ("t mcp add s npx - --", "t mcp add -- s npx -", &[]),
            // Before the command a word that looks like an option is one, and has to be known.
            ("t mcp add -suser --scoep x s npx", "t mcp add -suser --scoep -- x s npx", &[]),
            ("t mcp add -h", "t mcp add --help --", &[]),
            ("t mcp add s npx -e", "t mcp add --env -- s npx", &["-e"]),
            ("t mcp add s npx -e -- x", "t mcp add --env -- s npx x", &["-e"]),
        ];
        for (line, expected, taken) in cases {
            check(line, expected, taken);
        }
    }

    #[test]
    fn other_commands_are_left_alone() {
        for line in ["t call add -e x", "t mcp remove add -s user", "t --config mcp add -s user", "t -- mcp add -s x"] {
            check(line, line, &[]);
        }
    }
}
