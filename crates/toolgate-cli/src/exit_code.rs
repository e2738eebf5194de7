//! The exit codes of the program. They are part of its contract: scripts read them, and a code never changes its meaning.

use std::process::ExitCode;

/// How a run of the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ending {
    /// Done.
    Done = 0,
    /// The tool ran and reported an error.
    ToolError = 1,
    /// Wrong usage, or settings or policies that cannot be read.
    Usage = 2,
    /// Denied by policy, or refused by the person.
    Denied = 3,
    /// The server could not be reached, started or understood.
    Unreachable = 4,
    /// Login needed.
    LoginNeeded = 5,
    /// Timed out or cancelled.
    Stopped = 6,
    /// No such server, tool, prompt or resource.
    Unknown = 7,
    /// The folder is not trusted.
    Untrusted = 8,
    /// A check found something.
    Found = 9,
    /// The model failed, or was asked as often as it may be.
    Model = 10,
    /// What was done could not be written out.
    Output = 74,
}

impl Ending {
    /// The number the shell sees.
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Ending> for ExitCode {
    fn from(ending: Ending) -> Self {
        Self::from(ending.code())
    }
}

/// The table at the end of `toolgate --help`.
pub(crate) const HELP: &str = "\
Exit codes:
  0  done
  1  the tool ran and reported an error
  2  wrong usage, or settings or policies that cannot be read
  3  denied by policy, or refused by the person
  4  the server could not be reached, started or understood
  5  login needed
  6  timed out or cancelled
  7  no such server, tool, prompt or resource
  8  the folder is not trusted
  9  a check found something
 10  the model failed, or was asked as often as it may be
 74  the output could not be written, whatever was done";

#[cfg(test)]
mod tests {
    use super::{Ending, HELP};

    #[test]
    fn the_help_names_every_code() {
        let all = [
            Ending::Done,
            Ending::ToolError,
            Ending::Usage,
            Ending::Denied,
            Ending::Unreachable,
            Ending::LoginNeeded,
            Ending::Stopped,
            Ending::Unknown,
            Ending::Untrusted,
            Ending::Found,
            Ending::Model,
        ];
        for ending in all {
            assert!(HELP.contains(&format!("\n{:>3}  ", ending.code())), "{ending:?}");
        }
    }
}
