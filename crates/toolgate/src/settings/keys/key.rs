//! What is known of one key. Nothing here is built at run time: the whole table is a constant.

use std::fmt;

/// One key of an object.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) preset: Preset,
    /// What it does, for people.
    pub(crate) doc: &'static str,
    pub(crate) merge: Merge,
    pub(crate) standing: Standing,
}

/// What a key takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    /// A string.
    Text,
    /// A list of strings.
    List,
    /// A list of strings; one string alone is taken for a list of one.
    ListOrOne,
    /// A list of strings, or `true` for everything.
    ListOrAll,
    /// An object whose values are strings.
    Map,
    /// A number.
    Number(Amount),
    /// `true` or `false`.
    Truth,
    /// One of a few words.
    Word(&'static [&'static str]),
    /// An object with keys of its own.
    Object(Object),
    /// An object with a server under each name.
    Servers(&'static [Key]),
    /// Whatever another client writes there.
    Anything,
}

/// An object with keys of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Object {
    pub(crate) keys: &'static [Key],
    pub(crate) unknown: Unknown,
}

/// What is said about keys of an object that are not documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Each is reported.
    Reported,
    /// Other clients have many of their own there: only what looks like a mistyped key is reported.
    Kept,
}

/// What a number counts, and how much of it there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    pub(crate) unit: &'static str,
    pub(crate) least: Least,
    pub(crate) most: Option<u64>,
}

/// The lower end of an amount.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Least {
    Any,
    From(u64),
    MoreThan(u64),
}

/// What holds when a key is not written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Preset {
    Nothing,
    Number(u64),
    Truth(bool),
    Word(&'static str),
    Texts(&'static [&'static str]),
    /// Something that is no value of a settings file.
    InWords(&'static str),
}

/// What counts when several layers have a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Merge {
    /// The highest layer.
    Replace,
    /// The highest layer, for each name of its own and then the whole entry.
    ReplaceEntry,
    /// Nothing of its own: the entry it stands in counts whole.
    WithEntry,
    /// Each key inside has a rule of its own.
    PerKey,
    /// The lists of all layers, each entry once.
    Union,
    /// The lists of all layers, one after the other.
    Concat,
    /// What is in every list there is.
    Intersection,
}

/// Whether a key does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It has an effect.
    Used,
    /// It is read and checked, for the sake of other clients or of what is to come, and has no effect.
    Accepted,
}

impl Key {
    pub(crate) const fn new(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        let (preset, merge, standing) = (Preset::Nothing, Merge::Replace, Standing::Used);
        Self { name, shape, preset, doc, merge, standing }
    }

    /// An object with keys of its own, all of which are documented.
    pub(crate) const fn section(name: &'static str, keys: &'static [Self], doc: &'static str) -> Self {
        Self::new(name, Shape::Object(Object { keys, unknown: Unknown::Reported }), doc).merged(Merge::PerKey)
    }

    /// An object that other clients keep many keys in.
    pub(crate) const fn open_section(name: &'static str, keys: &'static [Self], doc: &'static str) -> Self {
        Self::new(name, Shape::Object(Object { keys, unknown: Unknown::Kept }), doc).merged(Merge::PerKey)
    }

    pub(crate) const fn preset(self, preset: Preset) -> Self {
        Self { preset, ..self }
    }

    pub(crate) const fn merged(self, merge: Merge) -> Self {
        Self { merge, ..self }
    }

    pub(crate) const fn accepted(self) -> Self {
        Self { standing: Standing::Accepted, ..self }
    }
}

impl Shape {
    /// Any number of something.
    pub(crate) const fn number(unit: &'static str) -> Self {
        Self::Number(Amount { unit, least: Least::Any, most: None })
    }

    /// At least so much of something.
    pub(crate) const fn at_least(least: u64, unit: &'static str) -> Self {
        Self::Number(Amount { unit, least: Least::From(least), most: None })
    }

    /// So much of something.
    pub(crate) const fn within(least: u64, most: u64, unit: &'static str) -> Self {
        Self::Number(Amount { unit, least: Least::From(least), most: Some(most) })
    }

    /// A time limit in milliseconds.
    pub(crate) const fn milliseconds(most: u64) -> Self {
        Self::Number(Amount { unit: "milliseconds", least: Least::MoreThan(0), most: Some(most) })
    }
}

impl Amount {
    /// The allowed number that is nearest to one that is not.
    #[expect(clippy::cast_precision_loss, reason = "bounds are far below where whole numbers lose anything")]
    pub(crate) fn bound_for(&self, number: f64) -> Option<u64> {
        let least = match self.least {
            Least::From(least) => Some(least).filter(|least| number < *least as f64),
            Least::MoreThan(less) => Some(less + 1).filter(|_| number <= less as f64),
            Least::Any => None,
        };
        least.or_else(|| self.most.filter(|most| number > *most as f64))
    }
}

impl fmt::Display for Amount {
    /// `from 1 to 256`, `at least 1`, `more than 0`; nothing when there are no bounds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Least::Any, None) => Ok(()),
            (Least::Any, Some(most)) => write!(f, "at most {most}"),
            (Least::From(least), None) => write!(f, "at least {least}"),
            (Least::From(least), Some(most)) => write!(f, "from {least} to {most}"),
            (Least::MoreThan(less), None) => write!(f, "more than {less}"),
            (Least::MoreThan(less), Some(most)) => write!(f, "more than {less}, at most {most}"),
        }
    }
}

/// A key by its name.
pub(crate) fn find(keys: &'static [Key], name: &str) -> Option<&'static Key> {
    keys.iter().find(|key| key.name == name)
}

/// Visits keys and all that stand inside them, each with its path; a name that is free to choose is written `*`.
pub(crate) fn visit(keys: &'static [Key], above: &str, each: &mut dyn FnMut(&str, &'static Key)) {
    for key in keys {
        let path = if above.is_empty() { key.name.to_owned() } else { format!("{above}.{}", key.name) };
        each(&path, key);
        match key.shape {
            Shape::Object(object) => visit(object.keys, &path, each),
            Shape::Servers(keys) => visit(keys, &format!("{path}.*"), each),
            Shape::Text
            | Shape::List
            | Shape::ListOrOne
            | Shape::ListOrAll
            | Shape::Map
            | Shape::Number(_)
            | Shape::Truth
            | Shape::Word(_)
            | Shape::Anything => (),
        }
    }
}
