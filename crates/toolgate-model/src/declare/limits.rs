//! Every bound on a schema that becomes a declaration. What providers document themselves stands in `dialect.rs`.

/// The text of one schema. Large ones of real servers have 100 KB; what is longer is no description of arguments.
pub(super) const SCHEMA_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Nesting of a schema that is read; what is deeper counts as unsaid. Below the 128 levels that the JSON parser takes.
pub(super) const SOURCE_DEPTH_MAX: usize = 120;

/// Parts of a schema that are indexed for its references.
pub(super) const INDEXED_PARTS_MAX: usize = 200_000;

/// Parts of one declaration while it is made; a reference counts as often as it is followed.
pub(super) const PARTS_MAX: usize = 6_000;

/// Applicators (`allOf`, `$ref`, properties, …) inside each other while a schema is read, so that the stack is bounded.
pub(super) const READ_DEPTH_MAX: usize = 64;

/// How often a reference is followed inside of itself.
pub(super) const RECURSIONS_MAX: usize = 2;

/// Alternatives of one union.
pub(super) const ALTERNATIVES_MAX: usize = 32;

/// Values of alternatives that are one value each.
pub(super) const JOINED_VALUES_MAX: usize = 500;

/// Names that `propertyNames` lists and that become properties.
pub(super) const LISTED_NAMES_MAX: usize = 64;

/// The values of one `enum`; beyond, the words only say how many there are.
pub(super) const VALUES_BYTES_MAX: usize = 16 * 1024;

/// A constraint, default or example that is told in words.
pub(super) const NOTE_CHARS_MAX: usize = 240;

/// Notes of one part of a schema.
pub(super) const NOTES_MAX: usize = 8;

/// The description of one part of a schema.
pub(super) const DESCRIPTION_CHARS_MAX: usize = 4_096;

/// The same once a schema turned out to be too large.
pub(super) const SHORT_DESCRIPTION_CHARS_MAX: usize = 400;

/// The description of a function; longer ones are instructions of many pages.
pub(super) const FUNCTION_DESCRIPTION_CHARS_MAX: usize = 16 * 1024;

/// One declaration as it is sent: about 16,000 tokens.
pub(super) const DECLARATION_BYTES_MAX: usize = 64 * 1024;

/// All declarations of a request. More would fill the context of most models with nothing but tools.
pub(super) const DECLARATIONS_BYTES_MAX: usize = 1024 * 1024;

/// A text in which a model wrote an object or a list, and that is read as JSON.
pub(super) const TEXT_ARGUMENT_BYTES_MAX: usize = 8 * 1024 * 1024;
