//! What a schema says, resolved: a tree without references, in the middle between what was written and what a provider takes.

use serde_json::{Number, Value};

use super::limits::{DESCRIPTION_CHARS_MAX, NOTE_CHARS_MAX, NOTES_MAX, PARTS_MAX};

/// A set of JSON types. Whole numbers and others are apart, so that `number` and `integer` can be intersected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const NUMBER: Self = Self(4 | 8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const ALL: Self = Self(127);

    /// Those that are declared apart from each other, in the order in which they are shown.
    pub(super) const EACH: [Self; 6] =
        [Self::STRING, Self::NUMBER, Self::BOOLEAN, Self::ARRAY, Self::OBJECT, Self::NULL];

    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }

    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.as_f64().is_some_and(|number| number.fract() != 0.0) => Self(8),
            Value::Number(_) => Self::INTEGER,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether they have anything in common.
    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The parts of it that are declared apart.
    pub(super) fn apart(self) -> impl Iterator<Item = Self> {
        Self::EACH.into_iter().map(move |one| one.and(self)).filter(|one| !one.is_empty())
    }

    /// The name of one type.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::NULL => "null",
            Self::BOOLEAN => "boolean",
            Self::INTEGER => "integer",
            Self::STRING => "string",
            Self::ARRAY => "array",
            Self::OBJECT => "object",
            _ => "number",
        }
    }
}

/// What a schema says about one place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    pub(super) words: Words,
    pub(super) form: Form,
}

/// Which values there may be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Form {
    Plain(Box<Plain>),
    /// One of several; never empty.
    Union(Vec<Shape>),
    /// None at all.
    Never,
}

/// What is said for whoever reads it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Words {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    /// Constraints that have no keyword, as sentences.
    pub(super) notes: Vec<String>,
}

/// Values of some types, and what holds for each type.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plain {
    pub(super) kinds: Kinds,
    /// `enum` and `const`: never empty.
    pub(super) values: Option<Vec<Value>>,
    pub(super) default: Option<Value>,
    pub(super) numbers: Numbers,
    pub(super) text: Text,
    pub(super) list: List,
    pub(super) object: Object,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Numbers {
    pub(super) least: Option<Bound>,
    pub(super) most: Option<Bound>,
    pub(super) multiple_of: Option<Number>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub(super) value: Number,
    pub(super) exclusive: bool,
}

/// How many there are of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) least: Option<u64>,
    pub(super) most: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Text {
    pub(super) chars: Count,
    pub(super) pattern: Option<String>,
    pub(super) format: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct List {
    /// The first items, one by one.
    pub(super) first: Vec<Shape>,
    /// All others.
    pub(super) rest: Option<Shape>,
    pub(super) count: Count,
    pub(super) is_unique: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Object {
    pub(super) properties: Vec<(String, Shape)>,
    pub(super) required: Vec<String>,
    pub(super) others: Others,
    pub(super) count: Count,
}

/// Properties that have no name in the schema.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Others {
    /// Nothing is said about them, so nobody expects them.
    #[default]
    Unsaid,
    Closed,
    Of(Box<Shape>),
}

impl Shape {
    /// Anything.
    pub(super) fn any() -> Self {
        Self::of(Plain::of(Kinds::ALL))
    }

    pub(super) fn never() -> Self {
        Self { words: Words::default(), form: Form::Never }
    }

    pub(super) fn of(plain: Plain) -> Self {
        Self { words: Words::default(), form: Form::Plain(Box::new(plain)) }
    }

    pub(super) fn is_never(&self) -> bool {
        self.form == Form::Never
    }

    pub(super) fn plain(&self) -> Option<&Plain> {
        if let Form::Plain(plain) = &self.form { Some(plain) } else { None }
    }

    /// How many parts it has.
    pub(super) fn parts(&self) -> usize {
        let inside: usize = match &self.form {
            Form::Plain(plain) => plain.children().map(Self::parts).sum(),
            Form::Union(shapes) => shapes.iter().map(Self::parts).sum(),
            Form::Never => 0,
        };
        inside + 1
    }
}

impl Plain {
    pub(super) fn of(kinds: Kinds) -> Self {
        Self {
            kinds,
            values: None,
            default: None,
            numbers: Numbers::default(),
            text: Text::default(),
            list: List::default(),
            object: Object::default(),
        }
    }

    fn children(&self) -> impl Iterator<Item = &Shape> {
        let others = if let Others::Of(shape) = &self.object.others { Some(&**shape) } else { None };
        let lists = self.list.first.iter().chain(&self.list.rest);
        lists.chain(self.object.properties.iter().map(|(_, shape)| shape)).chain(others)
    }

    /// Whether it says nothing about values.
    pub(super) fn is_any(&self) -> bool {
        self.kinds == Kinds::ALL && !self.has_rules(Kinds::ALL) && self.values.is_none()
    }

    /// Whether anything but the type is said about values of some types.
    pub(super) fn has_rules(&self, kinds: Kinds) -> bool {
        (kinds.meets(Kinds::NUMBER) && self.numbers != Numbers::default())
            || (kinds.meets(Kinds::STRING) && self.text != Text::default())
            || (kinds.meets(Kinds::ARRAY) && self.list != List::default())
            || (kinds.meets(Kinds::OBJECT) && self.object != Object::default())
    }

    /// The types as they are meant: whoever writes `properties` and no type speaks of an object.
    pub(super) fn meant_kinds(&self) -> Kinds {
        if let Some(values) = &self.values {
            return values.iter().fold(Kinds::NONE, |kinds, value| kinds.or(Kinds::of(value)));
        }
        if self.kinds != Kinds::ALL {
            return self.kinds;
        }
        let families = [Kinds::OBJECT, Kinds::ARRAY, Kinds::STRING, Kinds::NUMBER];
        families.into_iter().find(|&kinds| self.has_rules(kinds)).unwrap_or(Kinds::ALL)
    }
}

impl Words {
    pub(super) fn note(&mut self, note: impl Into<String>) {
        let note = shortened(&note.into(), NOTE_CHARS_MAX);
        if self.notes.len() < NOTES_MAX && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What somebody else says, where nothing is said here.
    pub(super) fn complete(&mut self, other: Self) {
        if self.description.is_none() && self.title.is_none() {
            self.title = other.title;
        }
        self.description = self.description.take().or(other.description);
        for note in other.notes {
            self.note(note);
        }
    }
}

/// A value as a few words, or nothing when it is too long to be told.
pub(super) fn told(value: &Value) -> Option<String> {
    // Most are short; what is not is not written out only to be thrown away.
    let is_small = |value: &Value| match value {
        Value::String(text) => text.len() <= NOTE_CHARS_MAX,
        Value::Array(list) => list.len() <= NOTE_CHARS_MAX,
        Value::Object(map) => map.len() <= NOTE_CHARS_MAX,
        _ => true,
    };
    let text = is_small(value).then(|| value.to_string())?;
    (text.chars().count() <= NOTE_CHARS_MAX - 40).then_some(text)
}

/// The beginning of a text, with a mark where it was cut.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    if text.len() <= chars_max || text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// What it costs to make a declaration, and what was lost.
#[derive(Debug)]
pub(super) struct Ledger {
    parts_left: usize,
    /// Whether there was not enough room for all parts.
    pub(super) is_exhausted: bool,
    /// Whether parts without room are left unsaid, instead of everything being made anew with fewer levels.
    pub(super) is_last_attempt: bool,
    /// The deepest level that was read.
    pub(super) deepest: usize,
    /// Whether the declaration allows what the schema does not.
    pub(super) is_loosened: bool,
    /// Characters of one description.
    pub(super) description_chars_max: usize,
}

impl Ledger {
    pub(super) fn new() -> Self {
        let description_chars_max = DESCRIPTION_CHARS_MAX;
        let parts_left = PARTS_MAX;
        Self {
            parts_left,
            is_exhausted: false,
            is_last_attempt: false,
            deepest: 0,
            is_loosened: false,
            description_chars_max,
        }
    }

    /// Takes room for some parts, if there is any.
    pub(super) fn spend(&mut self, parts: usize) -> bool {
        let has_room = self.parts_left >= parts;
        if has_room {
            self.parts_left -= parts;
        } else {
            self.is_exhausted = true;
            self.is_loosened = true;
        }
        has_room
    }

    /// Whether it makes no sense to go on.
    pub(super) fn has_failed(&self) -> bool {
        self.is_exhausted && !self.is_last_attempt
    }

    pub(super) fn loosen(&mut self) {
        self.is_loosened = true;
    }
}
