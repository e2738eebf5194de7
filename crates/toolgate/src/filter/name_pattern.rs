//! A name of a tool or server, or a form of names with `*` for anything. Matching takes time linear in both texts.

use super::entry::EntryError;
use crate::glob::glob;
use crate::shown_name::{folded, spellings};

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

    /// Whether it could be this name: whatever its capitals, or as the name is shown. That is what a restriction asks.
    #[must_use]
    pub fn could_be(&self, name: &str) -> bool {
        self.folded().matches_any(&spellings(name))
    }

    /// The same as a restriction compares it.
    pub(crate) fn folded(&self) -> Self {
        match self {
            Self::Any => Self::Any,
            Self::Exact(exact) => Self::Exact(folded(exact)),
            Self::Glob(pattern) => Self::Glob(folded(pattern)),
        }
    }

    /// Whether it is one of these spellings.
    pub(crate) fn matches_any(&self, spellings: &[String]) -> bool {
        spellings.iter().any(|spelling| self.matches(spelling))
    }

    /// Whether it is this name, letter by letter. That is what a permission asks.
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
    fn a_permission_is_matched_letter_by_letter_and_a_restriction_as_names_are_shown() {
        // pattern, name, whether a permission is about it, whether a restriction is
        let cases = [
            ("read", "read", true, true),
            ("read", "read_file", false, false),
            ("*", "anything", true, true),
            ("*", "", true, true),
            ("read_*", "read_file", true, true),
            ("*_file", "read_file", true, true),
            ("Read", "read", false, true),
            ("drop_table", "Drop_Table", false, true),
            ("Drop_*", "drop table", false, true),
            ("delete_all", "delete all", false, true),
            ("delete all", "delete all", true, true),
            ("delete all", "delete_all", false, false),
            ("delete", " delete ", false, true),
            ("l_schen", "löschen", false, true),
            ("LÖSCHEN", "löschen", false, true),
            ("ΟΔΟΣ*", "ΟΔΟΣΑ", true, true),
        ];
        for (pattern, name, permits, restricts) in cases {
            let pattern = NamePattern::parse(pattern).unwrap();
            assert_eq!((pattern.matches(name), pattern.could_be(name)), (permits, restricts), "{pattern} {name}");
        }
    }
}
