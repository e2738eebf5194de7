//! The commands in the options and words of wrappers, with one function for each wrapper that has special rules.
//!
//! Programs and versions differ in which of several equal options counts, so an option with a command may be given only once.

use super::script::{Unreadable, Word};
use super::wrapper_options::{Before, Wrapper};

/// A command that a wrapper runs.
#[derive(Debug)]
pub(super) enum Run {
    /// A program and its words.
    Words(Vec<Word>),
    /// A text for a shell.
    Text(String),
}

impl Run {
    /// Words that form a command, if there are any.
    fn of_words(words: &[Word]) -> Vec<Self> {
        if words.is_empty() { Vec::new() } else { vec![Self::Words(words.to_vec())] }
    }

    /// Whether it names a program that takes keys on a terminal, some of which run a text: `!program`.
    pub(super) fn takes_keys(&self) -> bool {
        let names = |text: &str| text.split(|sign: char| !sign.is_alphanumeric()).any(|it| TAKING_KEYS.contains(&it));
        match self {
            Self::Text(text) => names(text),
            Self::Words(words) => words.iter().any(|word| names(word.shown())),
        }
    }
}

/// Programs that take keys on a terminal, by themselves or through a pager.
const TAKING_KEYS: [&str; 22] = [
    "apt",
    "aptitude",
    "crontab",
    "git",
    "htop",
    "info",
    "journalctl",
    "less",
    "loginctl",
    "lynx",
    "man",
    "more",
    "most",
    "mysql",
    "nano",
    "perldoc",
    "pinfo",
    "psql",
    "systemctl",
    "tig",
    "top",
    "w3m",
];

pub(super) fn not_literal(wrapper: &str) -> Unreadable {
    Unreadable::because(format!("what `{wrapper}` runs is only known when it runs; write it out"))
}

pub(super) fn not_told(wrapper: &str, why: &str) -> Unreadable {
    Unreadable::because(format!("what `{wrapper}` runs cannot be told: {why}"))
}

pub(super) fn after_dashes(words: &[Word]) -> &[Word] {
    match words.split_first() {
        Some((first, rest)) if first.literal.as_deref() == Some("--") => rest,
        _ => words,
    }
}

/// Words that are joined with spaces and parsed again. `None` when there are none.
pub(super) fn joined(wrapper: &str, words: &[Word]) -> Result<Option<String>, Unreadable> {
    let literals: Option<Vec<&str>> = words.iter().map(|word| word.literal.as_deref()).collect();
    let text = literals.ok_or_else(|| not_literal(wrapper))?.join(" ");
    Ok((!text.trim().is_empty()).then_some(text))
}

/// Commands that `find` runs for its results.
pub(super) struct Found {
    pub(super) runs: Vec<Run>,
    /// Whether an unknown word may be an action that runs something.
    pub(super) may_run: bool,
}

pub(super) fn found_files(arguments: &[Word]) -> Found {
    let is = |word: &Word, texts: &[&str]| word.literal.as_deref().is_some_and(|text| texts.contains(&text));
    let mut runs = Vec::new();
    let mut own: Vec<&Word> = Vec::new();
    let mut rest = arguments;
    while let Some(at) = rest.iter().position(|word| is(word, &["-exec", "-execdir", "-ok", "-okdir"])) {
        own.extend(rest.iter().take(at));
        rest = rest.get(at + 1..).unwrap_or_default();
        // `+` ends a command only after `{}`.
        let ends = |(at, word): (usize, &Word)| {
            let follows_mark = at.checked_sub(1).and_then(|at| rest.get(at)).is_some_and(|word| is(word, &["{}"]));
            is(word, &[";"]) || (is(word, &["+"]) && follows_mark)
        };
        let end = rest.iter().enumerate().position(ends).unwrap_or(rest.len());
        let words: Vec<Word> = rest.iter().take(end).map(|word| replaced(word, "{}")).collect();
        if !words.is_empty() {
            runs.push(Run::Words(words));
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    own.extend(rest);
    Found { runs, may_run: may_act(&own) }
}

/// Whether an unknown word may be `-exec`: it begins so, may expand to several words, or the end of a command follows.
fn may_act(words: &[&Word]) -> bool {
    let ends = words.iter().filter(|word| matches!(word.literal.as_deref(), Some(";" | "+"))).count();
    let unknown: Vec<&&Word> = words.iter().filter(|word| word.literal.is_none()).collect();
    let open = unknown.iter().filter(|word| word.head.is_empty() && !word.names_files()).count();
    unknown.iter().any(|word| {
        let begins = ["-exec", "-execdir", "-ok", "-okdir"].iter().any(|action| word.could_be_option(action));
        begins && (!word.head.is_empty() || (!word.names_files() && (word.may_split || ends > 0 || open > 2)))
    })
}

/// A word in which a wrapper replaces `mark`.
fn replaced(word: &Word, mark: &str) -> Word {
    let Some((head, _)) = word.head.split_once(mark) else { return word.clone() };
    Word { raw: word.raw.clone(), literal: None, head: head.to_owned(), may_split: true }
}

/// `env -S 'program words'`: split like shell words, but not run by a shell, and put before the words that follow.
pub(super) fn split_string(text: &str, rest: &[Word]) -> Result<Run, Unreadable> {
    let split = shlex::split(text).filter(|_| !text.contains(['$', '\\', '#'])).ok_or_else(|| not_literal("env -S"))?;
    // Parsed as the arguments of another `env`.
    let words = std::iter::once("env".to_owned())
        .chain(split)
        .map(|text| Word::plain(&text, &text))
        .chain(rest.iter().cloned());
    Ok(Run::Words(words.collect()))
}

/// `xargs program words`, with words from its input at the end, or in place of marks.
pub(super) fn xargs_runs(before: &Before, rest: &[Word]) -> Vec<Run> {
    if rest.is_empty() {
        return Vec::new();
    }
    let marks: Vec<&str> = before.values(&["I", "i", "J", "replace"]).collect();
    let counts = before.values(&["L", "l", "n", "max-lines", "max-args"]).count();
    let mut words = rest.to_vec();
    for mark in &marks {
        let mark = if mark.is_empty() { "{}" } else { mark };
        words = words.iter().map(|word| replaced(word, mark)).collect();
    }
    // With several of these options, the effective one depends on their order and on the program.
    if marks.len() != 1 || counts > 0 {
        words.push(Word::unknown(""));
    }
    vec![Run::Words(words)]
}

/// `parallel 'text' ::: words`: a shell runs the text, with the words in place of `{}` or at the end.
pub(super) fn parallel_runs(rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let end = rest.iter().position(|word| word.literal.as_deref().is_some_and(|text| text.starts_with(":::")));
    let text = joined("parallel", rest.get(..end.unwrap_or(rest.len())).unwrap_or_default())?;
    let text = text.ok_or_else(|| not_literal("parallel"))?;
    if text.replace("{}", "").contains('{') {
        return Err(not_told("parallel", "only `{}` is understood as a place for a word"));
    }
    // The parser does not treat `{,}` as a literal word.
    Ok(vec![Run::Text(text.replace("{}", "{,}") + " {,}")])
}

/// `ssh host text`, and the commands that its options run locally.
pub(super) fn ssh_runs(wrapper: &Wrapper, before: &Before, rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let behind = wrapper.options(rest)?;
    let local = before.options.iter().chain(&behind.options).filter_map(|(name, value)| {
        let setting = value.as_deref().filter(|_| name == "o")?.trim_start();
        let (key, text) = setting.split_once(|sign: char| sign == '=' || sign.is_whitespace())?;
        let text = text.trim_start_matches(|sign: char| sign == '=' || sign.is_whitespace());
        key.to_ascii_lowercase().trim_matches('"').ends_with("command").then(|| Run::Text(text.trim().to_owned()))
    });
    let mut runs: Vec<Run> = local.collect();
    runs.extend(joined("ssh", rest.get(behind.length..).unwrap_or_default())?.map(Run::Text));
    Ok(runs)
}

/// `flock file program words`, and `flock file -c text`.
pub(super) fn flock_runs(rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    match rest {
        [] => Ok(Vec::new()),
        [option, text, ..] if matches!(option.literal.as_deref(), Some("-c" | "--command")) => {
            text.literal.clone().map(|text| vec![Run::Text(text)]).ok_or_else(|| not_literal("flock"))
        }
        words => Ok(Run::of_words(words)),
    }
}

/// `watch text`, and `watch -x program words`.
pub(super) fn watch_runs(before: &Before, rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    if before.options.iter().any(|(name, _)| matches!(name.as_str(), "x" | "exec")) {
        return Ok(Run::of_words(rest));
    }
    Ok(joined("watch", rest)?.map(Run::Text).into_iter().collect())
}

/// `script -c text file`, also with options after the file, and `script file program words`.
pub(super) fn script_runs(wrapper: &Wrapper, before: &Before, rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let is_option = |word: &&Word| word.head.starts_with('-') || word.head.is_empty();
    let behind = match rest.first().filter(is_option) {
        Some(_) => wrapper.options(rest)?,
        None => Before::default(),
    };
    let words = rest.get(behind.length..).unwrap_or_default();
    let texts: Vec<&str> = before.values(&["c", "command"]).chain(behind.values(&["c", "command"])).collect();
    let names_text = |word: &Word| is_option(&word) && (word.literal.is_none() || word.head.contains('c'));
    if texts.len() > 1 || words.iter().any(names_text) {
        return Err(not_told("script", "write `-c` once, before the file"));
    }
    Ok(texts.into_iter().map(|text| Run::Text(text.to_owned())).chain(Run::of_words(words)).collect())
}

/// `npx -c text`, and `npx package@version words`.
pub(super) fn npx_runs(wrapper: &Wrapper, before: &Before, rest: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let texts: Vec<&str> = before.values(&["c", "call"]).collect();
    if texts.len() > 1 {
        return Err(not_told(wrapper.name, "write `-c` once"));
    }
    let mut words = after_dashes(rest).to_vec();
    if let Some(program) = words.first_mut()
        && let Some((name, _)) = program.literal.as_deref().and_then(|text| text.rsplit_once('@'))
        && !name.is_empty()
    {
        let name = name.to_owned();
        program.head.clone_from(&name);
        program.literal = Some(name);
    }
    Ok(texts.into_iter().map(|text| Run::Text(text.to_owned())).chain(Run::of_words(&words)).collect())
}

/// The text for a signal: `trap 'text' INT`. `None` when no handler is set.
pub(super) fn trap_text(arguments: &[Word]) -> Result<Option<String>, Unreadable> {
    match after_dashes(arguments) {
        [] | [_] => Ok(None),
        [action, ..] => match action.literal.as_deref() {
            None => Err(not_literal("trap")),
            Some("" | "-" | "-p" | "-l" | "-lp") => Ok(None),
            Some(text) => Ok(Some(text.to_owned())),
        },
    }
}

/// Option letters of `su` and `runuser` that may precede `c` in one word.
const USER_FLAGS: &str = "flmpP";

/// Commands that run as another user: `su -c 'text' user`, and `runuser -u user program words`.
pub(super) fn user_runs(wrapper: &str, arguments: &[Word]) -> Result<Vec<Run>, Unreadable> {
    let mut runs = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.literal.as_deref() else { return Err(not_literal(wrapper)) };
        if wrapper == "runuser" && runs.is_empty() && matches!(text, "-u" | "--user") {
            return Ok(Run::of_words(after_dashes(words.as_slice().get(1..).unwrap_or_default())));
        }
        let (name, attached) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        let is_long = name.len() > 3 && ["--command", "--session-command"].iter().any(|long| long.starts_with(name));
        let letters = text.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        let is_short = match letters.and_then(|letters| letters.split_once('c')) {
            Some((before, "")) => before.chars().all(|letter| USER_FLAGS.contains(letter)),
            Some(_) => return Err(not_told(wrapper, "write `-c` on its own")),
            None => false,
        };
        if is_short || is_long {
            let value = attached.filter(|_| is_long).or_else(|| words.next().and_then(|word| word.literal.clone()));
            runs.push(Run::Text(value.ok_or_else(|| not_literal(wrapper))?));
        }
    }
    if runs.len() > 1 { Err(not_told(wrapper, "write `-c` once")) } else { Ok(runs) }
}
