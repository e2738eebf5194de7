//! A name of a tool or server, or a form of names with `*` for anything. Matching takes time linear in both texts.

use super::entry::EntryError;
use crate::glob::glob;

/// A name, or a name with `*` for anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NamePattern {
    /// Every name.
    Any,
    /// This name.
    Exact(String),
    /// Names of this form.
    Glob(String),
}

impl NamePattern {
    /// Reads a name in which `*` stands for anything.
    ///
    /// # Errors
    /// When the text is empty, too long, or has something in it that no name has: a parenthesis, a control character.
    pub fn parse(text: &str) -> Result<Self, EntryError> {
        let name = text.trim();
        let wrong = |why: &str| Err(EntryError::new(text, why));
        if name.is_empty() {
            return wrong("nothing is named; write the name of a tool, or `*` for every tool");
        }
        if let Some(why) = EntryError::why_unfit(name) {
            return wrong(&why);
        }
        if name.contains(['(', ')']) {
            return wrong("a name has no parentheses");
        }
        Ok(Self::of(name))
    }

    /// What a text means that is known to be fit: a name, or a name with `*` for anything.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let name = text.trim();
        if !name.is_empty() && name.bytes().all(|byte| byte == b'*') {
            Self::Any
        } else if name.contains('*') {
            Self::Glob(name.to_owned())
        } else {
            Self::Exact(name.to_owned())
        }
    }

    /// Whether it is this name, letter by letter.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Exact(exact) => exact == name,
            Self::Glob(pattern) => glob(pattern, name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_letter_by_letter() {
        let cases = [
            ("read", "read", true),
            ("read", "read_file", false),
            ("*", "anything", true),
            ("*", "", true),
            ("read_*", "read_file", true),
            ("*_file", "read_file", true),
            ("Read", "read", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(NamePattern::parse(pattern).unwrap().matches(name), expected, "{pattern} {name}");
        }
    }
}
