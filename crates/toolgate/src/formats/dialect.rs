//! How the texts of each client name variables, and what that is in ours, there and back.
//!
//! | client | what it replaces |
//! | --- | --- |
//! | Gemini CLI | `$NAME`, `${NAME}`, `${NAME:-default}` |
//! | Claude Code | `${NAME}`, `${NAME:-default}` |
//! | VS Code | `${env:NAME}`, `${input:ID}`, `${userHome}`, `${workspaceFolder}`, `${pathSeparator}`, `${/}` |
//! | Cursor | the same without inputs |
//! | goose | `${NAME}` and `$NAME` in headers, from the variables of the entry |
//! | Claude Desktop, Codex, Zed | nothing |

use crate::formats::found::NoteKind;
use crate::formats::placeholder::{Piece, is_name, literal, name_at, pieces};

/// The way one client reads its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Ours.
    Own,
    /// Gemini CLI, of which ours is an extension.
    Gemini,
    /// Nothing stands for anything else.
    Literal,
    /// Claude Code.
    ClaudeCode,
    /// VS Code.
    VsCode,
    /// Cursor.
    Cursor,
}

/// Where a text is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spot {
    /// By a process that runs in the workspace folder.
    Process,
    /// In a request.
    Request,
}

/// Something to say about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    pub(crate) kind: NoteKind,
    pub(crate) message: String,
}

/// A text in the other language, and what is to be said about it.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    pub(crate) text: String,
    pub(crate) remarks: Vec<Remark>,
    /// It speaks of the workspace folder as `.`.
    pub(crate) names_workspace: bool,
    /// What VS Code has to ask for.
    pub(crate) inputs: Vec<String>,
}

impl Translated {
    fn remark(&mut self, kind: NoteKind, message: String) {
        let remark = Remark { kind, message };
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}

impl Dialect {
    /// A text of this client as one of ours.
    pub(crate) fn theirs_as_ours(self, text: &str, spot: Spot) -> Translated {
        let mut ours = Translated::default();
        match self {
            Self::Own | Self::Gemini => ours.text = text.to_owned(),
            Self::Literal => ours.text = literal(text),
            Self::ClaudeCode | Self::VsCode | Self::Cursor => self.translate(text, spot, &mut ours),
        }
        ours
    }

    fn translate(self, text: &str, spot: Spot, ours: &mut Translated) {
        // What stands for itself is gathered, because whether a `$` needs care depends on what is around it.
        let mut own = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((inside, after)) = after.split_once('}') else { break };
            own.push_str(before);
            match self.meaning(inside, spot, ours) {
                Some(Meaning::Text(text)) => own.push_str(text),
                Some(Meaning::Placeholder(placeholder)) => {
                    if own.ends_with('\\') {
                        let message = format!("a backslash before `${{{inside}}}` cannot be written here");
                        ours.remark(NoteKind::Lost, message);
                    }
                    ours.text.push_str(&literal(&own));
                    own.clear();
                    ours.text.push_str(&placeholder);
                }
                None => {
                    own.extend(["${", inside, "}"]);
                    let message = format!("`${{{inside}}}` has no meaning here; it stays as it is written");
                    ours.remark(NoteKind::Lost, message);
                }
            }
            rest = after;
        }
        own.push_str(rest);
        ours.text.push_str(&literal(&own));
    }

    /// What stands between `${` and `}` means to this client.
    fn meaning(self, inside: &str, spot: Spot, ours: &mut Translated) -> Option<Meaning> {
        if self == Self::ClaudeCode {
            let name = inside.split_once(":-").map_or(inside, |(name, _)| name);
            return is_name(name).then(|| Meaning::Placeholder(format!("${{{inside}}}")));
        }
        if let Some(id) = inside.strip_prefix("input:").filter(|id| self == Self::VsCode && !id.is_empty()) {
            ours.remark(NoteKind::Changed, keychain_advice(&format!("${{{inside}}}"), id));
            return Some(Meaning::Placeholder(format!("${{keychain:{id}}}")));
        }
        if inside.strip_prefix("env:").is_some_and(is_name) {
            return Some(Meaning::Placeholder(format!("${{{inside}}}")));
        }
        match (inside, spot) {
            ("userHome", _) => Some(Meaning::Placeholder("${HOME}".to_owned())),
            ("pathSeparator" | "/", _) => Some(Meaning::Text("/")),
            ("workspaceFolder", Spot::Process) => {
                ours.names_workspace = true;
                let message = "`${workspaceFolder}` is written as `.`: servers start in the workspace folder";
                ours.remark(NoteKind::Changed, message.to_owned());
                Some(Meaning::Text("."))
            }
            _ => None,
        }
    }

    /// One of our texts as one of this client, which is called `client`.
    pub(crate) fn ours_as_theirs(self, text: &str, client: &str) -> Translated {
        let mut theirs = Translated::default();
        if self == Self::Own {
            text.clone_into(&mut theirs.text);
            return theirs;
        }
        for piece in pieces(text) {
            let written = match &piece {
                Piece::Literal(own) => self.stand_for_itself(own, client, &mut theirs),
                Piece::Variable { name, default } => self.variable(name, *default, client, &mut theirs),
                Piece::Env(name) if is_name(name) => self.variable(name, None, client, &mut theirs),
                Piece::Keychain(name) => self.secret(&format!("keychain:{name}"), name, client, &mut theirs),
                Piece::Env(name) | Piece::Other(name) => self.secret(name, name, client, &mut theirs),
            };
            theirs.text.push_str(&written);
        }
        theirs
    }

    /// These clients have no way to write a `$` that is one.
    fn stand_for_itself(self, own: &str, client: &str, theirs: &mut Translated) -> String {
        let would_be_replaced = match self {
            Self::Own | Self::Literal => false,
            Self::Gemini => pieces(own).iter().any(|piece| !matches!(piece, Piece::Literal(_))),
            Self::ClaudeCode | Self::VsCode | Self::Cursor => own.contains("${"),
        };
        if would_be_replaced {
            let message = format!("{client} may replace a `$` that stands for itself here");
            theirs.remark(NoteKind::Changed, message);
        }
        own.to_owned()
    }

    fn variable(self, name: &str, default: Option<&str>, client: &str, theirs: &mut Translated) -> String {
        match (self, default) {
            (Self::Own | Self::Gemini | Self::ClaudeCode, Some(default)) => format!("${{{name}:-{default}}}"),
            (Self::Own | Self::Gemini | Self::ClaudeCode, None) => format!("${{{name}}}"),
            (Self::VsCode | Self::Cursor, _) if name == "HOME" => "${userHome}".to_owned(),
            (Self::VsCode | Self::Cursor, default) => {
                if default.is_some() {
                    let message = format!("{client} has no defaults for variables; set `{name}`");
                    theirs.remark(NoteKind::Lost, message);
                }
                format!("${{env:{name}}}")
            }
            (Self::Literal, _) => {
                let message = format!("{client} replaces no variables; write what `{name}` stands for");
                theirs.remark(NoteKind::Lost, message);
                format!("${{{name}}}")
            }
        }
    }

    /// A secret that only we can look up.
    fn secret(self, written: &str, name: &str, client: &str, theirs: &mut Translated) -> String {
        if self == Self::Literal {
            let message = format!("{client} looks up no secrets; write what `${{{written}}}` stands for");
            theirs.remark(NoteKind::Lost, message);
            return format!("${{{written}}}");
        }
        if self == Self::VsCode {
            let id = input_id(name);
            theirs.remark(NoteKind::Changed, format!("VS Code asks for it instead of looking up `${{{written}}}`"));
            if !theirs.inputs.contains(&id) {
                theirs.inputs.push(id.clone());
            }
            return format!("${{input:{id}}}");
        }
        let variable = variable_name(name);
        let message = format!("{client} cannot look up `${{{written}}}`; set the variable `{variable}`");
        theirs.remark(NoteKind::Changed, message);
        self.variable(&variable, None, client, theirs)
    }
}

/// What a placeholder of another client is here.
enum Meaning {
    /// Text that stands for itself.
    Text(&'static str),
    /// One of our placeholders.
    Placeholder(String),
}

/// How to give us what another client asked for or kept for itself. The name comes from a file: it must not become a part of the command.
pub(crate) fn keychain_advice(written: &str, account: &str) -> String {
    let Ok(quoted) = shlex::try_quote(account) else {
        return format!("`{written}` becomes `${{keychain:{account}}}`; put it there");
    };
    format!(
        "`{written}` becomes `${{keychain:{account}}}`; put it there with `secret-tool store --label={quoted} service toolgate \
         username {quoted}`, on macOS with `security add-generic-password -s toolgate -a {quoted} -w`"
    )
}

/// A name for a variable, made of one for something else.
fn variable_name(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let upper: String = name.chars().map(letter).collect();
    let trimmed = upper.trim_matches('_');
    if name_at(trimmed).is_some() { trimmed.to_owned() } else { format!("SECRET_{trimmed}") }
}

/// Something VS Code takes as the id of an input.
fn input_id(name: &str) -> String {
    name.chars().map(|letter| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }).collect()
}

#[cfg(test)]
#[path = "dialect_tests.rs"]
mod tests;
