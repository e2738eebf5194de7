//! References to secrets as they are written, read here and followed only when a server is started.
//!
//! | written | stands for |
//! | --- | --- |
//! | `${env:NAME}` | a variable of the host |
//! | `${keychain:NAME}` | an entry of the person's keychain |
//! | `${file:PATH}` | what a file holds |
//! | `${cmd:COMMAND LINE}` | what a command prints |
//!
//! A reference ends at the first `}`, a command at the `}` that closes it: braces within a command are counted, but for those in quotes
//! (`'…'` and `"…"`) and those behind a backslash. Nothing within a reference is expanded; a command sees the variables itself.

use std::fmt;

/// Where a secret is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SecretKind {
    /// `env`: in a variable of the host.
    Env,
    /// `keychain`: in the keychain of the person.
    Keychain,
    /// `file`: in a file.
    File,
    /// `cmd`: in what a command prints.
    Cmd,
}

impl SecretKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Env, Self::Keychain, Self::File, Self::Cmd];

    /// The word before the colon.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Env => "env",
            Self::Keychain => "keychain",
            Self::File => "file",
            Self::Cmd => "cmd",
        }
    }
}

/// A reference to a secret. It displays as it is written, which tells nothing secret.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SecretReference {
    /// Where the secret is kept.
    pub kind: SecretKind,
    /// The name, path or command line.
    pub target: String,
}

impl fmt::Display for SecretReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${{{}:{}}}", self.kind.as_str(), self.target)
    }
}

impl fmt::Debug for SecretReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Why something that looks like a reference is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReferenceFault {
    /// Secrets are kept in no such place; the word before the colon.
    UnknownKind(String),
    /// There is no `}` at its end.
    NotClosed(SecretKind),
    /// Nothing stands behind the colon.
    Blank(SecretKind),
    /// What stands behind the colon is not what a variable can be called.
    NotAVariable,
}

impl ReferenceFault {
    /// What is wrong, and what to do about it.
    pub(crate) fn in_words(&self) -> (String, &'static str) {
        match self {
            Self::UnknownKind(word) => (
                format!("`${{{word}:…}}` refers to no secret: nothing is kept in `{word}`"),
                r"there are `${env:NAME}`, `${keychain:NAME}`, `${file:PATH}` and `${cmd:COMMAND}`; a dollar sign itself is written `\\$`",
            ),
            Self::NotClosed(kind) => (
                format!("`${{{}:` is not closed", kind.as_str()),
                "end it with `}`; braces within a command come in pairs, or in quotes",
            ),
            Self::Blank(kind) => (
                format!("`${{{}:}}` refers to nothing", kind.as_str()),
                "name a variable, an entry of the keychain, a file or a command behind the colon",
            ),
            Self::NotAVariable => (
                "what stands behind `${env:` is not the name of a variable".to_owned(),
                "a default can stand in `${NAME:-default}` only",
            ),
        }
    }
}

/// Reads the reference that starts right behind a `${`, and gives what follows it. `None` when there is no reference but, perhaps, a variable.
pub(crate) fn read(inside: &str) -> Option<Result<(SecretReference, &str), ReferenceFault>> {
    let end = inside.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    let (word, rest) = inside.split_at(end);
    let rest = rest.strip_prefix(':')?;
    // `${name:-text}` and `${name:+text}` are about variables, whatever those are called.
    if !word.starts_with(|letter: char| letter.is_ascii_lowercase()) || rest.starts_with(['-', '+']) {
        return None;
    }
    match SecretKind::ALL.into_iter().find(|kind| kind.as_str() == word) {
        Some(kind) => Some(read_kind(kind, rest)),
        // `${name:0:3}`, `${name: -1}`, `${name:=text}` and `${name:?text}` are for shells.
        None if rest.starts_with(|letter: char| letter.is_ascii_digit() || " =?".contains(letter)) => None,
        None => rest.contains('}').then(|| Err(ReferenceFault::UnknownKind(word.to_owned()))),
    }
}

fn read_kind(kind: SecretKind, rest: &str) -> Result<(SecretReference, &str), ReferenceFault> {
    let end = if kind == SecretKind::Cmd { end_of_command(rest) } else { rest.find('}') };
    let (target, after) =
        end.and_then(|end| Some((rest.get(..end)?, rest.get(end + 1..)?))).ok_or(ReferenceFault::NotClosed(kind))?;
    if target.trim().is_empty() {
        return Err(ReferenceFault::Blank(kind));
    }
    if kind == SecretKind::Env && target.contains(['=', ':', '\0']) {
        return Err(ReferenceFault::NotAVariable);
    }
    Ok((SecretReference { kind, target: target.to_owned() }, after))
}

/// Where the `}` stands that closes a command.
fn end_of_command(text: &str) -> Option<usize> {
    let (mut open, mut quote) = (0_usize, None);
    let mut letters = text.char_indices();
    while let Some((index, letter)) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => (),
            (_, '\\') => {
                letters.next();
            }
            (Some(_), _) => (),
            (None, '\'' | '"') => quote = Some(letter),
            (None, '{') => open += 1,
            (None, '}') if open == 0 => return Some(index),
            (None, '}') => open -= 1,
            (None, _) => (),
        }
    }
    None
}

/// Whether a text holds anything that reads like a reference, also a wrong one.
pub(crate) fn has_reference(text: &str) -> bool {
    let mut after_dollars = text.match_indices('$').filter_map(|(start, mark)| text.get(start + mark.len()..));
    after_dollars.any(|after| after.strip_prefix('{').is_some_and(|inside| read(inside).is_some()))
}

#[cfg(test)]
#[path = "secret_reference_tests.rs"]
mod tests;
