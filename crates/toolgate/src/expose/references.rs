//! `@` references in a prompt: where they are, and whether each means a resource of a server or a file.
//!
//! A reference is an `@` with a token behind it. The token ends at a blank, at one of `, ; ! ? ( ) [ ] { }`, and before a dot that ends a sentence; a backslash takes
//! the next character as it is, and in double quotes everything may stand. `\@` is an at-sign and nothing else.

use std::collections::HashSet;
use std::ops::Range;

use super::uri_template::fits;
use crate::limits::REFERENCES_MAX;
use crate::registry::{Catalog, CatalogResource, CatalogTemplate};
use crate::server_name::ServerName;

/// What a reference may mean.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// All servers that there are, also those that offer nothing yet.
    pub servers: &'a [ServerName],
    /// Their resources.
    pub resources: &'a [CatalogResource],
    /// Their families of resources.
    pub templates: &'a [CatalogTemplate],
}

impl<'a> Known<'a> {
    /// What a catalog has, and `servers` besides.
    pub fn of(catalog: &'a Catalog, servers: &'a [ServerName]) -> Self {
        Self { servers, resources: catalog.resources(), templates: catalog.templates() }
    }
}

/// One reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Where it stands in the prompt, its `@` included.
    pub range: Range<usize>,
    /// What it means.
    pub target: Target,
}

/// What a reference means.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// A resource of a server.
    Resource {
        /// Whose.
        server: ServerName,
        /// Where it is there.
        uri: String,
    },
    /// A file or a folder. Whether it exists is for the caller to see: if not, the reference is part of the text, as the `@` of a mail address is.
    File(String),
}

/// A prompt and what it refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Referring {
    /// What the model is to read: the prompt with its references as they were typed, and `@` for `\@`.
    pub text: String,
    /// The references, in order; the same target may stand there twice.
    pub references: Vec<Reference>,
    /// How many references were too many to be looked at.
    pub left_out: usize,
}

impl Referring {
    /// The targets, each once, in order.
    pub fn targets(&self) -> Vec<&Target> {
        let mut seen = HashSet::new();
        self.references.iter().map(|reference| &reference.target).filter(|target| seen.insert(*target)).collect()
    }
}

/// Finds the references of a prompt.
pub fn find(prompt: &str, known: &Known<'_>) -> Referring {
    let mut found = Referring::default();
    let mut at = 0;
    while let Some(rest) = prompt.get(at..).filter(|rest| !rest.is_empty()) {
        let next = rest.find(['\\', '@']).unwrap_or(rest.len());
        let (before, behind) = rest.split_at(next);
        found.text.push_str(before);
        at += next;
        if behind.starts_with("\\@") {
            found.text.push('@');
            at += 2;
        } else if behind.starts_with('@') {
            let (token, length) = token(behind.get(1..).unwrap_or_default());
            let range = at..at + 1 + length;
            found.text.push_str(prompt.get(range.clone()).unwrap_or_default());
            at = range.end;
            if token.is_empty() {
                continue;
            }
            if found.references.len() < REFERENCES_MAX {
                found.references.push(Reference { range, target: target(token, known) });
            } else {
                found.left_out += 1;
            }
        } else if let Some(letter) = behind.chars().next() {
            found.text.push(letter);
            at += letter.len_utf8();
        }
    }
    found
}

/// The token at the beginning of a text, without its escapes and quotes, and how many bytes it has with them.
fn token(text: &str) -> (String, usize) {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let behind = rest.get(letter.len_utf8()..).unwrap_or_default();
        rest = match letter {
            '"' => match behind.split_once('"') {
                Some((inside, behind)) => {
                    plain.push_str(inside);
                    behind
                }
                None => {
                    plain.push('"');
                    behind
                }
            },
            '\\' => match behind.chars().next() {
                Some(escaped) => {
                    plain.push(escaped);
                    behind.get(escaped.len_utf8()..).unwrap_or_default()
                }
                None => break,
            },
            '.' if behind.chars().next().is_none_or(char::is_whitespace) => break,
            ',' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}' => break,
            blank if blank.is_whitespace() => break,
            letter => {
                plain.push(letter);
                behind
            }
        };
    }
    (plain, text.len() - rest.len())
}

/// `server:uri` of a server that there is, a URI that one of them lists, or a file.
pub(super) fn target(token: String, known: &Known<'_>) -> Target {
    if let Some((server, uri)) = token.split_once(':') {
        let named = known.servers.iter().find(|name| ***name == *server);
        if let Some(name) = named.filter(|name| is_resource(name, uri, known)) {
            return Target::Resource { server: name.clone(), uri: uri.to_owned() };
        }
        let listed = known.resources.iter().find(|one| one.resource.uri == token);
        if let Some(listed) = listed {
            return Target::Resource { server: listed.server.clone(), uri: token };
        }
    }
    Target::File(token)
}

/// Whether it can be a resource of the server: listed, of one of its families, or at least a URI, which not every server lists.
fn is_resource(server: &ServerName, uri: &str, known: &Known<'_>) -> bool {
    let is_listed = known.resources.iter().any(|one| one.server == *server && one.resource.uri == uri);
    let is_templated =
        || known.templates.iter().any(|one| one.server == *server && fits(&one.template.uri_template, uri).is_some());
    is_listed || has_scheme(uri) || is_templated()
}

/// Whether a text begins like a URI: `scheme:`.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else { return false };
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.');
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic()) && scheme.chars().all(is_part)
}

/// What is typed to refer to a resource or a file: escaped where a token would end.
pub fn typed(name: &str) -> String {
    let mut text = String::from("@");
    let mut letters = name.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends = match letter {
            ',' | ';' | '!' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | '\\' => true,
            '.' => letters.peek().is_none_or(|next| next.is_whitespace()),
            letter => letter.is_whitespace(),
        };
        if ends {
            text.push('\\');
        }
        text.push(letter);
    }
    text
}

#[cfg(test)]
#[path = "references_tests.rs"]
mod tests;
