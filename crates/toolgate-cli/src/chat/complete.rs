//! What a line could become: commands, servers, tools and what they take, prompts, resources, files. Pure over what is offered.

use toolgate::call::arguments::ParameterHelp;
use toolgate::expose::references;

use super::line::{COMMANDS, find};
use crate::limits::CANDIDATES_MAX;

/// What there is to choose from.
pub(super) trait Offer {
    /// The servers, and whether each is switched off.
    fn servers(&self) -> Vec<(String, bool)>;
    /// The tools, with what they do.
    fn tools(&self) -> Vec<(String, Option<String>)>;
    /// What a tool takes.
    fn parameters(&self, tool: &str) -> Vec<ParameterHelp>;
    /// The prompts, with what they are for.
    fn prompts(&self) -> Vec<(String, Option<String>)>;
    /// What a prompt takes, whether that is required, and what it is.
    fn prompt_arguments(&self, prompt: &str) -> Vec<(String, bool, Option<String>)>;
    /// Values of an argument of a prompt that its server proposes.
    fn prompt_values(&self, prompt: &str, argument: &str, typed: &str) -> Vec<String>;
    /// What could stand at the end of the text behind a prompt that is a command, and where that begins.
    fn behind_prompt(&self, command: &str, behind: &str) -> Option<(usize, Vec<Candidate>)>;
    /// The resources as `server:uri`, with their names.
    fn resources(&self) -> Vec<(String, Option<String>)>;
    /// Models that the settings name, and those that answered before.
    fn models(&self) -> Vec<String>;
    /// Files and folders whose path begins so; folders end with a slash.
    fn files(&self, typed: &str) -> Vec<String>;
}

/// One thing that could be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// What is typed.
    pub(super) text: String,
    /// What it is.
    pub(super) about: Option<String>,
    /// Whether it ends there, and the next word follows.
    pub(super) is_whole: bool,
}

/// All of them, in place of what stands from `start` to the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Candidates {
    pub(super) start: usize,
    pub(super) all: Vec<Candidate>,
}

/// What a line up to the cursor could become.
pub(super) fn candidates(before: &str, offer: &dyn Offer) -> Candidates {
    if let Some(found) = behind_prompt(before, offer) {
        return found;
    }
    let start = word_start(before);
    let word = before.get(start..).unwrap_or_default();
    let earlier: Vec<&str> = before.get(..start).unwrap_or_default().split_whitespace().collect();
    if let Some(typed) = word.strip_prefix('@') {
        let typed = unescaped(typed);
        // As it is offered: a dot in the middle is no end.
        let word = references::typed(&format!("{typed}x"));
        let word = word.strip_suffix('x').unwrap_or(&word);
        return Candidates { start, all: chosen(referred_to(&typed, offer), word) };
    }
    let found = match earlier.split_first() {
        None if word.starts_with('/') => command_names(offer),
        Some((command, rest)) if command.starts_with('/') => behind(command, rest, word, offer),
        _ => Vec::new(),
    };
    Candidates { start, all: chosen(found, word) }
}

/// The same behind a prompt that is a command: its arguments have a grammar of their own.
fn behind_prompt(before: &str, offer: &dyn Offer) -> Option<Candidates> {
    let (name, behind) = before.trim_start().strip_prefix('/')?.split_once(char::is_whitespace)?;
    if find(name).is_some() {
        return None;
    }
    let (from, found) = offer.behind_prompt(name, behind)?;
    let all = found.into_iter().filter(is_plain).take(CANDIDATES_MAX).collect();
    Some(Candidates { start: before.len() - behind.len() + from, all })
}

/// Nothing that would act on a terminal is offered.
fn is_plain(candidate: &Candidate) -> bool {
    !candidate.text.chars().any(char::is_control)
}

/// Those that begin with what is typed; where none does, those that contain it.
fn chosen(found: Vec<Candidate>, word: &str) -> Vec<Candidate> {
    let typed = word.to_lowercase();
    let plain: Vec<Candidate> = found.into_iter().filter(is_plain).collect();
    let begin: Vec<Candidate> =
        plain.iter().filter(|one| one.text.to_lowercase().starts_with(&typed)).take(CANDIDATES_MAX).cloned().collect();
    if !begin.is_empty() {
        return begin;
    }
    let inner = typed.trim_start_matches(['/', '@']);
    plain.into_iter().filter(|one| one.text.to_lowercase().contains(inner)).take(CANDIDATES_MAX).collect()
}

/// Where the word begins in which the cursor stands: behind the last blank that is not quoted.
fn word_start(before: &str) -> usize {
    let (mut start, mut quote) = (0, None);
    for (at, letter) in before.char_indices() {
        match (letter, quote) {
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => start = at + letter.len_utf8(),
            _ => {}
        }
    }
    // An apostrophe in a text is no quote.
    let is_text = !before.trim_start().starts_with('/');
    if is_text { text_word_start(before) } else { start }
}

/// The same in a text, where a blank is part of a reference behind a backslash and in double quotes.
fn text_word_start(before: &str) -> usize {
    let (mut start, mut is_escaped, mut is_quoted) = (0, false, false);
    for (at, letter) in before.char_indices() {
        let begins_quoted = before.get(start..at) == Some("@");
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' if is_quoted || begins_quoted => is_quoted = !is_quoted,
            letter if letter.is_whitespace() && !is_quoted => start = at + letter.len_utf8(),
            _ => {}
        }
    }
    start
}

/// What a reference that is typed so far means, without its escapes and its quote.
fn unescaped(typed: &str) -> String {
    let mut letters = typed.strip_prefix('"').unwrap_or(typed).chars();
    let mut meant = String::new();
    while let Some(letter) = letters.next() {
        meant.extend(if letter == '\\' { letters.next() } else { Some(letter) });
    }
    meant
}

fn whole(text: impl Into<String>, about: Option<String>) -> Candidate {
    Candidate { text: text.into(), about, is_whole: true }
}

fn open(text: impl Into<String>, about: Option<String>) -> Candidate {
    Candidate { text: text.into(), about, is_whole: false }
}

fn named(all: Vec<(String, Option<String>)>) -> Vec<Candidate> {
    all.into_iter().map(|(name, about)| whole(name, about)).collect()
}

fn command_names(offer: &dyn Offer) -> Vec<Candidate> {
    let own = COMMANDS.iter().map(|one| whole(format!("/{}", one.name), Some(one.about.to_owned())));
    let prompts = offer.prompts().into_iter().map(|(name, about)| whole(format!("/{name}"), about));
    own.chain(prompts).collect()
}

fn behind(command: &str, rest: &[&str], word: &str, offer: &dyn Offer) -> Vec<Candidate> {
    let name = command.trim_start_matches('/');
    match (name, rest) {
        ("mcp", []) => parts(name).into_iter().chain(servers(offer, |_| true)).collect(),
        ("mcp", ["enable", ..]) => servers(offer, |is_off| is_off),
        ("mcp", ["disable", ..]) => servers(offer, |is_off| !is_off),
        ("mcp", ["list"]) => details().into_iter().chain(servers(offer, |_| true)).collect(),
        ("mcp", ["list", "desc" | "schema" | "nodesc"]) => servers(offer, |_| true),
        ("mcp", [_]) | ("tools" | "prompts" | "resources", []) => servers(offer, |_| true),
        ("call", []) | ("policy", ["explain"]) => named(offer.tools()),
        ("call", [tool, given @ ..]) => arguments(&offer.parameters(tool), given, word),
        ("prompt", []) => named(offer.prompts()),
        ("prompt", [prompt, given @ ..]) => prompt_arguments(prompt, given, word, offer),
        ("read", []) => offer.resources().into_iter().map(|(uri, about)| whole(uri, about)).collect(),
        ("model", []) => offer.models().into_iter().map(|name| whole(name, None)).collect(),
        ("help", []) => COMMANDS.iter().map(|one| whole(one.name, Some(one.about.to_owned()))).collect(),
        (name, []) if find(name).is_some_and(|one| !one.parts.is_empty()) => parts(name),
        _ => Vec::new(),
    }
}

fn parts(command: &str) -> Vec<Candidate> {
    let parts = find(command).map(|command| command.parts).unwrap_or_default();
    parts.iter().map(|(name, about)| whole(*name, Some((*about).to_owned()))).collect()
}

/// The words of `mcp list`.
fn details() -> Vec<Candidate> {
    let all = [("desc", "with descriptions"), ("schema", "with descriptions and parameters"), ("nodesc", "names only")];
    all.into_iter().map(|(word, about)| whole(word, Some(about.to_owned()))).collect()
}

fn servers(offer: &dyn Offer, is_meant: impl Fn(bool) -> bool) -> Vec<Candidate> {
    let all = offer.servers().into_iter().filter(|(_, is_off)| is_meant(*is_off));
    all.map(|(name, is_off)| whole(name, Some(if is_off { "switched off" } else { "server" }.to_owned()))).collect()
}

/// `key=`, or what can stand behind it.
fn arguments(parameters: &[ParameterHelp], given: &[&str], word: &str) -> Vec<Candidate> {
    if let Some((key, _)) = word.split_once('=') {
        let parameter = parameters.iter().find(|parameter| parameter.name == key.trim_end_matches(':'));
        return parameter.map(|parameter| values(key, parameter)).unwrap_or_default();
    }
    let is_open = |parameter: &&ParameterHelp| {
        let is_given = |word: &&&str| word.split_once('=').is_some_and(|(key, _)| key == parameter.name);
        !given.iter().any(|word| is_given(&word))
    };
    let mut all: Vec<&ParameterHelp> = parameters.iter().filter(is_open).collect();
    // What has to be given stands first.
    all.sort_by_key(|parameter| !parameter.required);
    all.into_iter().map(|parameter| open(format!("{}=", parameter.name), Some(about(parameter)))).collect()
}

fn values(key: &str, parameter: &ParameterHelp) -> Vec<Candidate> {
    let fixed = if parameter.kind == "boolean" { vec!["true".to_owned(), "false".to_owned()] } else { Vec::new() };
    let choices = if parameter.choices.is_empty() { fixed } else { parameter.choices.clone() };
    choices.into_iter().map(|value| whole(format!("{key}={}", quoted(&value)), None)).collect()
}

fn about(parameter: &ParameterHelp) -> String {
    let need = if parameter.required { "" } else { ", optional" };
    match &parameter.description {
        Some(description) => format!("{}{need}: {description}", parameter.kind),
        None => format!("{}{need}", parameter.kind),
    }
}

fn prompt_arguments(prompt: &str, given: &[&str], word: &str, offer: &dyn Offer) -> Vec<Candidate> {
    if let Some((key, typed)) = word.split_once('=') {
        let proposed = offer.prompt_values(prompt, key, typed.trim_start_matches(['"', '\'']));
        return proposed.into_iter().map(|value| whole(format!("{key}={}", quoted(&value)), None)).collect();
    }
    let is_given = |name: &str| given.iter().any(|word| word.split_once('=').is_some_and(|(key, _)| key == name));
    let all = offer.prompt_arguments(prompt).into_iter().filter(|(name, ..)| !is_given(name));
    all.map(|(name, required, description)| {
        let need = if required { "required" } else { "optional" };
        let about = description.map_or_else(|| need.to_owned(), |text| format!("{need}: {text}"));
        open(format!("{name}="), Some(about))
    })
    .collect()
}

/// A value as it has to be typed.
fn quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+,".contains(letter);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
}

fn referred_to(typed: &str, offer: &dyn Offer) -> Vec<Candidate> {
    let resources = offer.resources().into_iter().map(|(uri, about)| whole(references::typed(&uri), about));
    let files = offer.files(typed).into_iter().map(|path| Candidate {
        is_whole: !path.ends_with('/'),
        about: None,
        text: references::typed(&path),
    });
    files.chain(resources).collect()
}

/// What a command takes, to be shown behind a line that ends where it could be typed.
pub(super) fn usage_hint(line: &str, offer: &dyn Offer) -> Option<String> {
    if !line.ends_with(' ') {
        return None;
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["/call", tool, given @ ..] => {
            let open = arguments(&offer.parameters(tool), given, "");
            let all: Vec<String> = open.into_iter().map(|one| one.text).collect();
            (!all.is_empty()).then(|| all.join(" "))
        }
        [command] => find(command.strip_prefix('/')?).map(|one| one.takes.to_owned()).filter(|takes| !takes.is_empty()),
        _ => None,
    }
}

#[cfg(test)]
#[path = "complete_tests.rs"]
mod tests;
