//! What the program is connected to: which of its streams are terminals, how wide, with or without colours. Plain data.

use std::collections::BTreeMap;
use std::fmt;
use std::io::IsTerminal as _;

use serde::{Deserialize, Serialize};

/// What the standard streams are.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Terminal {
    /// Somebody types.
    pub(crate) stdin: bool,
    /// Somebody reads the results.
    pub(crate) stdout: bool,
    /// Somebody reads what is said about them.
    pub(crate) stderr: bool,
    /// How many columns results may take; `None` when nobody looks at them in columns.
    pub(crate) columns: Option<usize>,
    /// Whether colours are wanted where there is a terminal.
    pub(crate) colours: bool,
}

impl Terminal {
    /// What the streams of this process are, with what these variables say about them.
    pub(crate) fn around(vars: &BTreeMap<String, String>, no_color: bool) -> Self {
        let is_set = |name: &str| vars.get(name).is_some_and(|value| !value.is_empty());
        let is_dumb = vars.get("TERM").is_some_and(|name| name.is_empty() || name == "dumb");
        let stdout = std::io::stdout().is_terminal();
        let asked = vars.get("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|columns| *columns > 0);
        let measured = || {
            let size = if stdout { rustix::termios::tcgetwinsize(std::io::stdout()).ok() } else { None };
            size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
        };
        Self {
            stdin: std::io::stdin().is_terminal(),
            stdout,
            stderr: std::io::stderr().is_terminal(),
            columns: asked.or_else(measured),
            colours: !no_color && !is_set("NO_COLOR") && !is_dumb,
        }
    }

    /// Whether a person can be asked something.
    pub(crate) const fn can_ask(&self) -> bool {
        self.stdin && self.stderr
    }

    /// How results are coloured.
    pub(crate) const fn paint_results(&self) -> Paint {
        Paint { on: self.stdout && self.colours }
    }

    /// How talk is coloured.
    pub(crate) const fn paint_talk(&self) -> Paint {
        Paint { on: self.stderr && self.colours }
    }
}

/// Colours a text, or does not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Whether there are colours.
    pub(crate) const fn is_on(self) -> bool {
        self.on
    }

    /// With colours, for tests.
    #[cfg(test)]
    pub(crate) const fn always() -> Self {
        Self { on: true }
    }

    /// What stands out.
    pub(crate) const fn bold<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.with("1", text)
    }

    /// What stays behind.
    pub(crate) const fn dim<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.with("2", text)
    }

    /// What went wrong.
    pub(crate) const fn red<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.with("31", text)
    }

    /// What is well.
    pub(crate) const fn green<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.with("32", text)
    }

    /// What deserves a look.
    pub(crate) const fn yellow<T: fmt::Display>(self, text: T) -> Painted<T> {
        self.with("33", text)
    }

    const fn with<T: fmt::Display>(self, code: &'static str, text: T) -> Painted<T> {
        Painted { code: if self.on { Some(code) } else { None }, text }
    }
}

/// A text with its colour.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Painted<T> {
    code: Option<&'static str>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "\u{1b}[{code}m{}\u{1b}[0m", self.text),
            None => self.text.fmt(f),
        }
    }
}
