//! The arguments of one call, looked at by many rules: parsed once, taken apart as a shell command at most once.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::shell::{self, Script, Unreadable};

/// The arguments of one call.
#[derive(Debug)]
pub struct Arguments<'a> {
    value: &'a Value,
    folder: Option<&'a Path>,
    included: &'a [PathBuf],
    home: Option<&'a Path>,
    leads_out: bool,
    script: OnceCell<Option<Result<Script, Unreadable>>>,
}

impl<'a> Arguments<'a> {
    /// These arguments: an object.
    #[must_use]
    pub fn new(value: &'a Value) -> Self {
        Self { value, folder: None, included: &[], home: None, leads_out: false, script: OnceCell::new() }
    }

    /// The same, with the folder at which relative paths start, in arguments and in patterns.
    #[must_use]
    pub fn in_folder(self, folder: &'a Path) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// Adds the folders that a read-only command may look into besides the workspace.
    #[must_use]
    pub fn beside(self, included: &'a [PathBuf]) -> Self {
        Self { included, ..self }
    }

    /// Those folders.
    #[must_use]
    pub fn included(&self) -> &'a [PathBuf] {
        self.included
    }

    /// The same, with the folder that `~` means.
    #[must_use]
    pub fn at_home(self, home: &'a Path) -> Self {
        Self { home: Some(home), ..self }
    }

    /// Marks the arguments as leading out of the folder. A file named by the command is a link to somewhere else, or
    /// the content of the folder is not trusted. No command in them is then let through as read-only.
    #[must_use]
    pub fn leading_out(self) -> Self {
        Self { leads_out: true, ..self }
    }

    /// Whether the arguments are marked so.
    #[must_use]
    pub fn leads_out(&self) -> bool {
        self.leads_out
    }

    /// The same call with other arguments, whose command is already taken apart: what is asked about one simple command is not parsed again.
    pub(crate) fn with_script<'b>(&self, value: &'b Value, script: Script) -> Arguments<'b>
    where
        'a: 'b,
    {
        Arguments {
            value,
            folder: self.folder,
            included: self.included,
            home: self.home,
            leads_out: self.leads_out,
            script: OnceCell::from(Some(Ok(script))),
        }
    }

    /// The same call with other arguments.
    pub(crate) fn with_value<'b>(&self, value: &'b Value) -> Arguments<'b>
    where
        'a: 'b,
    {
        let Self { folder, included, home, leads_out, .. } = *self;
        Arguments { value, folder, included, home, leads_out, script: OnceCell::new() }
    }

    /// A copy in which some arguments also have other names. Its command is unchanged, so the parsed script is kept.
    pub(crate) fn also_named<'b>(&self, value: &'b Value) -> Arguments<'b>
    where
        'a: 'b,
    {
        let Self { folder, included, home, leads_out, .. } = *self;
        Arguments { value, folder, included, home, leads_out, script: self.script.clone() }
    }

    /// As they were given.
    #[must_use]
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// Where relative paths start, when that is known.
    #[must_use]
    pub fn folder(&self) -> Option<&'a Path> {
        self.folder
    }

    /// What `~` means, when that is known.
    #[must_use]
    pub fn home(&self) -> Option<&'a Path> {
        self.home
    }

    /// The `command` argument, when it is a text.
    #[must_use]
    pub fn command(&self) -> Option<&'a str> {
        self.value.get("command").and_then(Value::as_str)
    }

    /// The same, taken apart.
    pub fn script(&self) -> Option<&Result<Script, Unreadable>> {
        self.script.get_or_init(|| self.command().map(shell::read)).as_ref()
    }

    /// Every command line that the call could mean; none when it has no command.
    ///
    /// Some tools take the words of a command as a list, or its first word as `command` and the others as `args`. Whether they put them together
    /// with quotes or without cannot be told, so both are here.
    pub(super) fn command_lines(&self) -> Vec<CommandLine<'_>> {
        let command = self.value.get("command").unwrap_or(&Value::Null);
        let more: Vec<&Value> =
            WORD_LIST_KEYS.iter().filter_map(|key| self.value.get(key)).filter(|value| !is_nothing(value)).collect();
        match command {
            Value::Null => Vec::new(),
            Value::String(text) if more.is_empty() => {
                let line = |script| CommandLine { text: Cow::Borrowed(text), script: Cow::Borrowed(script) };
                self.script().into_iter().map(line).collect()
            }
            _ => match words_of(command).zip(more.into_iter().map(words_of).collect::<Option<Vec<_>>>()) {
                Some((words, more)) => put_together(command, &words, &more.concat()).map(CommandLine::of).into(),
                None => vec![CommandLine {
                    text: Cow::Borrowed(""),
                    script: Cow::Owned(Err(Unreadable { why: "its words are no texts".to_owned() })),
                }],
            },
        }
    }
}

/// One command line.
#[derive(Debug)]
pub(super) struct CommandLine<'a> {
    /// As a shell is given it.
    pub(super) text: Cow<'a, str>,
    /// Taken apart.
    pub(super) script: Cow<'a, Result<Script, Unreadable>>,
}

impl CommandLine<'_> {
    fn of(text: String) -> Self {
        let script = Cow::Owned(shell::read(&text));
        Self { text: Cow::Owned(text), script }
    }

    /// The programs that are written with the folder they come from.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        let commands = self.script.as_ref().as_ref().ok().into_iter().flat_map(|script| &script.commands);
        commands.filter_map(|command| command.words.first()?.literal.as_deref()).filter(|program| program.contains('/'))
    }
}

/// Where the words after the first one stand, when they do not stand in `command`.
const WORD_LIST_KEYS: [&str; 3] = ["args", "arguments", "argv"];

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

/// With the words quoted, and as they are. A `command` that is one text may have several words in it.
fn put_together(command: &Value, words: &[Cow<'_, str>], more: &[Cow<'_, str>]) -> [String; 2] {
    let first = if command.is_string() { words.concat() } else { quoted(words) };
    let lines = [[first, quoted(more)], [words.join(" "), more.join(" ")]];
    lines.map(|parts| parts.join(" ").trim_end().to_owned())
}

fn words_of(value: &Value) -> Option<Vec<Cow<'_, str>>> {
    match value {
        Value::Array(list) => list.iter().map(scalar_text).collect(),
        scalar => Some(vec![scalar_text(scalar)?]),
    }
}

/// A value that is no list and no object, as text.
pub(super) fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Null => Some(Cow::Borrowed("null")),
        Value::Bool(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Words as one line that a shell takes apart into them again. One that no shell can be given stays as it is.
fn quoted(words: &[Cow<'_, str>]) -> String {
    words.iter().map(|word| shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))).collect::<Vec<_>>().join(" ")
}
