//! `CommandError`: why a command did not do what was asked, in words for a person and as data for a program, with what to do next.

use toolgate::shape::visible;
use toolgate::{Error, ErrorKind};
use toolgate_model::{ModelError, ModelErrorKind};

use crate::exit_code::Ending;
use crate::json::JsonWriter;
use crate::terminal::Paint;

/// Before every line that goes on with what the line above began.
const CONTINUED: &str = "  ";

/// Shorthand for results of commands.
pub(crate) type Result<T, E = CommandError> = std::result::Result<T, E>;

/// A command that could not do what was asked.
#[derive(Debug, Clone)]
pub(crate) struct CommandError {
    ending: Ending,
    kind: &'static str,
    message: String,
    /// Lines for people that show what is meant.
    detail: Option<String>,
    server: Option<String>,
    hints: Vec<String>,
}

impl CommandError {
    /// A failure of that kind.
    pub(crate) fn new(ending: Ending, kind: &'static str, message: impl Into<String>) -> Self {
        Self { ending, kind, message: message.into(), detail: None, server: None, hints: Vec::new() }
    }

    /// Something was typed wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Ending::Usage, "usage", message)
    }

    /// Whoever read our output has stopped reading. That is their right, and nothing to talk about.
    pub(crate) fn output_closed() -> Self {
        Self::new(Ending::Done, "output_closed", "")
    }

    /// Whoever brought the command runs it themselves, and is told nothing else.
    pub(crate) fn handed_back() -> Self {
        Self::new(Ending::Done, "handed_back", "")
    }

    /// The person stopped it.
    pub(crate) fn interrupted() -> Self {
        Self::new(Ending::Stopped, "cancelled", "interrupted")
    }

    /// The same, about that server.
    #[must_use]
    pub(crate) fn about(mut self, server: &str) -> Self {
        self.server = Some(server.to_owned());
        self
    }

    /// The same, with lines that show what is meant.
    #[must_use]
    pub(crate) fn detail(mut self, detail: &str) -> Self {
        self.detail = Some(detail.to_owned());
        self
    }

    /// The same, with what to do next.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same in other words.
    #[must_use]
    pub(crate) fn saying(mut self, message: String) -> Self {
        self.message = message;
        self
    }

    /// The same with more at the end of the last advice.
    #[must_use]
    pub(crate) fn last_hint_with(mut self, more: &str) -> Self {
        match self.hints.last_mut() {
            Some(last) => last.push_str(more),
            None => self.message.push_str(more),
        }
        self
    }

    /// The same with another end of the program.
    #[must_use]
    pub(crate) const fn ending_in(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// How the program ends because of it.
    pub(crate) const fn ending(&self) -> Ending {
        self.ending
    }

    /// What kind of failure, in a word for programs.
    pub(crate) const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Whether there is something to say about it.
    pub(crate) fn is_quiet(&self) -> bool {
        matches!(self.kind, "output_closed" | "handed_back")
    }

    /// What is wrong, without the advice.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// What to do next.
    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }

    /// What is wrong and what to do next, for a field that takes one text.
    pub(crate) fn in_one_line(&self) -> String {
        let hints = self.hints.iter().map(String::as_str);
        std::iter::once(self.message.as_str()).chain(hints).collect::<Vec<_>>().join("; ")
    }

    /// `error: …` and `hint: …`. What others wrote in them cannot act on the terminal, and only our own lines begin at the edge: a message
    /// of many lines cannot give advice that looks like ours.
    pub(crate) fn lines(&self, paint: Paint) -> Vec<String> {
        let mut lines = Vec::new();
        push_lines(&mut lines, &paint.red("error:").to_string(), &self.message);
        if let Some(detail) = &self.detail {
            lines.extend(visible::text(detail).lines().map(|line| format!("{CONTINUED}{line}")));
        }
        for hint in &self.hints {
            push_lines(&mut lines, &paint.yellow("hint:").to_string(), hint);
        }
        lines
    }

    /// One object for programs.
    pub(crate) fn write(&self, json: &mut JsonWriter<'_>) -> std::io::Result<()> {
        json.object(|object| object.member("error", |json| self.write_inner(json)))
    }

    /// What stands behind `"error":`.
    pub(crate) fn write_inner(&self, json: &mut JsonWriter<'_>) -> std::io::Result<()> {
        json.object(|error| {
            error.member("code", |json| json.number(u64::from(self.ending.code())))?;
            error.string("kind", self.kind)?;
            error.string("message", &self.message)?;
            error.optional_string("server", self.server.as_deref())?;
            let hint = self.hints.join("\n");
            error.optional_string("hint", Some(hint.as_str()).filter(|hint| !hint.is_empty()))
        })
    }
}

fn push_lines(lines: &mut Vec<String>, label: &str, text: &str) {
    let text = visible::text(text);
    let mut parts = text.lines();
    lines.push(format!("{label} {}", parts.next().unwrap_or_default()));
    lines.extend(parts.map(|part| format!("{CONTINUED}{part}")));
}

/// How the program ends because of a failure of that kind.
fn ending_of(kind: ErrorKind) -> Ending {
    match kind {
        ErrorKind::Settings | ErrorKind::Policy | ErrorKind::State | ErrorKind::InvalidArguments => Ending::Usage,
        ErrorKind::Untrusted => Ending::Untrusted,
        ErrorKind::LoginNeeded | ErrorKind::LoginFailed => Ending::LoginNeeded,
        ErrorKind::TimedOut => Ending::Stopped,
        ErrorKind::Refused => Ending::ToolError,
        ErrorKind::UnknownServer
        | ErrorKind::UnknownTool
        | ErrorKind::UnknownPrompt
        | ErrorKind::UnknownResource
        | ErrorKind::UnknownResult => Ending::Unknown,
        _ => Ending::Unreachable,
    }
}

impl From<&ModelError> for CommandError {
    fn from(error: &ModelError) -> Self {
        let ending = if error.kind() == ModelErrorKind::Settings { Ending::Usage } else { Ending::Model };
        let told = Self::new(ending, error.kind().as_str(), error.to_string());
        match error.hint() {
            Some(hint) => told.hint(hint),
            None => told,
        }
    }
}

impl From<&Error> for CommandError {
    fn from(error: &Error) -> Self {
        Self {
            ending: ending_of(error.kind()),
            kind: error.kind().as_str(),
            message: error.to_string(),
            detail: None,
            server: error.server().map(|server| server.to_string()),
            hints: error.hint().map(ToOwned::to_owned).into_iter().collect(),
        }
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// Our own output could not be written.
impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::output_closed();
        }
        Self::new(Ending::Output, "output", format!("cannot write the output: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::CommandError;
    use crate::terminal::Paint;

    #[test]
    fn only_our_own_lines_begin_at_the_edge() {
        let error = CommandError::usage("x\nhint: run this\r\nerror: y").detail("{\n").hint("do\nhint: not\u{1b}[2J");
        let expected = ["error: x", "  hint: run this", "  error: y", "  {", "hint: do", "  hint: not\\e[2J"];
        assert_eq!(error.lines(Paint::default()), expected);
    }
}
