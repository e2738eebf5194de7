//! `Parts`: what a text consists of once its variables are filled in.

use std::fmt;
use std::ops::Deref;

use crate::settings::secret_reference::SecretReference;

/// A part of a text.
#[derive(Clone, PartialEq, Eq)]
pub enum Part {
    /// Text, which may be secret now.
    Plain(String),
    /// A reference, which is followed when the text is used.
    Secret(SecretReference),
}

impl fmt::Debug for Part {
    /// What variables brought in may be secret; a reference is not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("…"),
            Self::Secret(reference) => write!(f, "{reference}"),
        }
    }
}

/// The parts of a text in their order. No two plain ones follow one another, and none is empty.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Parts(Kept);

/// Most texts are one part, and there are many of them: one part needs no list.
#[derive(Clone, Default, PartialEq, Eq)]
enum Kept {
    #[default]
    Nothing,
    One(Part),
    Several(Vec<Part>),
}

impl Parts {
    pub(crate) fn push_text(&mut self, text: &str) {
        match self.last_mut() {
            _ if text.is_empty() => (),
            Some(Part::Plain(plain)) => plain.push_str(text),
            Some(Part::Secret(_)) | None => self.add(Part::Plain(text.to_owned())),
        }
    }

    pub(crate) fn push_reference(&mut self, reference: SecretReference) {
        self.add(Part::Secret(reference));
    }

    fn add(&mut self, part: Part) {
        self.0 = match std::mem::take(&mut self.0) {
            Kept::Nothing => Kept::One(part),
            Kept::One(first) => Kept::Several(vec![first, part]),
            Kept::Several(mut parts) => {
                parts.push(part);
                Kept::Several(parts)
            }
        };
    }

    fn last_mut(&mut self) -> Option<&mut Part> {
        match &mut self.0 {
            Kept::Nothing => None,
            Kept::One(part) => Some(part),
            Kept::Several(parts) => parts.last_mut(),
        }
    }
}

impl Deref for Parts {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        match &self.0 {
            Kept::Nothing => &[],
            Kept::One(part) => std::slice::from_ref(part),
            Kept::Several(parts) => parts,
        }
    }
}

impl From<String> for Parts {
    /// The text as it is: nothing in it is a reference.
    fn from(text: String) -> Self {
        Self(if text.is_empty() { Kept::Nothing } else { Kept::One(Part::Plain(text)) })
    }
}

impl FromIterator<Part> for Parts {
    fn from_iter<I: IntoIterator<Item = Part>>(parts: I) -> Self {
        let mut all = Self::default();
        for part in parts {
            match part {
                Part::Plain(text) => all.push_text(&text),
                Part::Secret(reference) => all.push_reference(reference),
            }
        }
        all
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
