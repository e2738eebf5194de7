//! `ConfigText`: a text of a server's settings. Variables are filled in; secrets are still references, and stay so until the server is started.

use std::fmt;

use crate::settings::secret_reference::{self, SecretReference};
use crate::settings::{Part, Parts};

/// A text of a server's settings: plain, or with references to secrets in it. Two are equal when they are written alike.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ConfigText(Parts);

impl ConfigText {
    pub(crate) const fn new(parts: Parts) -> Self {
        Self(parts)
    }

    /// A text as it stands in a file, for showing it: references are told apart, variables are left as they are.
    #[must_use]
    pub fn as_written(text: &str) -> Self {
        let mut parts = Parts::default();
        let mut rest = text;
        while let Some((before, inside)) = rest.split_once("${") {
            parts.push_text(before);
            if let Some(Ok((reference, after))) = secret_reference::read(inside) {
                parts.push_reference(reference);
                rest = after;
            } else {
                parts.push_text("${");
                rest = inside;
            }
        }
        parts.push_text(rest);
        Self(parts)
    }

    /// What it consists of.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }

    /// The whole text, when there is no reference in it.
    #[must_use]
    pub fn as_plain(&self) -> Option<&str> {
        match self.parts() {
            [] => Some(""),
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }

    /// The references in it, in order.
    pub fn references(&self) -> impl Iterator<Item = &SecretReference> {
        self.0.iter().filter_map(|part| match part {
            Part::Plain(_) => None,
            Part::Secret(reference) => Some(reference),
        })
    }

    /// Whether it is whole only when it is used.
    #[must_use]
    pub fn has_references(&self) -> bool {
        self.references().next().is_some()
    }

    /// The text with something in the place of each reference, so that the rest can be checked before the secrets are known.
    pub(crate) fn with_stand_ins(&self, stand_in: &str) -> String {
        let mut whole = String::new();
        for part in self.parts() {
            whole.push_str(match part {
                Part::Plain(text) => text,
                Part::Secret(_) => stand_in,
            });
        }
        whole
    }

    /// Whether a character stands in it, outside of references.
    pub(crate) fn contains(&self, letter: char) -> bool {
        self.0.iter().any(|part| matches!(part, Part::Plain(text) if text.contains(letter)))
    }

    /// Without space at its ends.
    pub(crate) fn trimmed(&self) -> Self {
        let mut parts = self.0.to_vec();
        if let Some(Part::Plain(first)) = parts.first_mut() {
            *first = first.trim_start().to_owned();
        }
        if let Some(Part::Plain(last)) = parts.last_mut() {
            *last = last.trim_end().to_owned();
        }
        Self(parts.into_iter().collect())
    }
}

impl fmt::Debug for ConfigText {
    /// What is plain may be secret all the same, and is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfigText").field(&self.0).finish()
    }
}

impl From<&str> for ConfigText {
    /// The text as it is: nothing in it is a reference.
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for ConfigText {
    /// The text as it is: nothing in it is a reference.
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

#[cfg(test)]
mod tests {
    use super::ConfigText;
    use crate::settings::expand::{Unset, expand};
    use std::collections::BTreeMap;

    fn text(written: &str) -> ConfigText {
        ConfigText::new(expand(written, &BTreeMap::new(), Unset::Keep, 1000).unwrap().parts)
    }

    #[test]
    fn plain_texts_are_told_from_those_with_references() {
        let cases = [
            ("", Some(""), ""),
            ("a", Some("a"), "a"),
            ("${cmd:x}", None, "1"),
            ("a${cmd:x}b${env:Y}", None, "a1b1"),
            ("\\${cmd:x}", Some("${cmd:x}"), "${cmd:x}"),
        ];
        for (written, plain, checked) in cases {
            let text = text(written);
            assert_eq!(text.as_plain(), plain, "{written}");
            assert_eq!(text.has_references(), plain.is_none(), "{written}");
            assert_eq!(text.with_stand_ins("1"), checked, "{written}");
        }
        assert_eq!(ConfigText::from("${cmd:x}").as_plain(), Some("${cmd:x}"));
        assert_ne!(ConfigText::from("${cmd:x}"), text("${cmd:x}"));
        assert_eq!(ConfigText::from(""), text(""));
    }

    #[test]
    fn a_text_can_be_taken_as_it_stands() {
        let cases = [
            ("", "", 0),
            ("${NONE:-d} $A ${", "${NONE:-d} $A ${", 0),
            ("${vault:x} ${cmd:open", "${vault:x} ${cmd:open", 0),
            ("a${B}${cmd:x '}'}${env:Y}", "a${B}!!", 2),
        ];
        for (written, expected, references) in cases {
            let text = ConfigText::as_written(written);
            assert_eq!(
                (text.with_stand_ins("!").as_str(), text.references().count()),
                (expected, references),
                "{written}"
            );
        }
    }

    #[test]
    fn space_at_the_ends_goes() {
        let cases = [(" a ", "a"), (" ", ""), (" ${env:X} ", "${env:X}"), (" a ${env:X} b ", "a ${env:X} b")];
        for (written, expected) in cases {
            assert_eq!(text(written).trimmed(), text(expected), "{written:?}");
        }
    }

    #[test]
    fn only_references_are_printed() {
        assert_eq!(format!("{:?}", text("Bearer sesame ${env:X}")), "ConfigText([…, ${env:X}])");
    }
}
