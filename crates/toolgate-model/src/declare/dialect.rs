//! What each provider documents about function declarations: facts, no code that depends on them.

use super::names::Letters;
use crate::provider::Provider;

/// What a declaration may look like for one provider.
#[derive(Debug)]
pub(super) struct Dialect {
    /// How the provider is called in reasons.
    pub(super) provider: &'static str,
    /// What the name of a function is made of.
    pub(super) names: Letters,
    /// What the key of a property is made of.
    pub(super) keys: Letters,
    /// Functions in one request.
    pub(super) functions_max: usize,
    /// Characters of the description of a function.
    pub(super) description_chars_max: usize,
    /// Nesting of objects and lists in one declaration.
    pub(super) levels_max: usize,
    /// The formats of strings that are kept as such; others are told in words.
    pub(super) formats: &'static [&'static str],
    /// Which keywords there are.
    pub(super) grammar: Grammar,
}

/// The keywords of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grammar {
    /// JSON Schema with an object at its root and no combination of schemas beside it.
    JsonSchema,
    /// Google's select subset of OpenAPI 3.0: `type`, `format`, `title`, `description`, `enum` of strings, `items`, `minItems`, `maxItems`,
    /// `properties`, `required`, `minimum`, `maximum`, `anyOf`, and no others that both of its fields for parameters have.
    OpenApiSubset,
}

impl Dialect {
    pub(super) const fn of(provider: Provider) -> &'static Self {
        match provider {
            Provider::Gemini => &GEMINI,
            Provider::OpenAi => &OPEN_AI,
            Provider::Anthropic => &ANTHROPIC,
        }
    }

    pub(super) fn is_open_api_subset(&self) -> bool {
        self.grammar == Grammar::OpenApiSubset
    }
}

/// Facts about `FunctionDeclaration` and `Schema`:
/// - names start with a letter or `_`, have letters, digits and `_:.-`, at most 64; parameters the same with letters, digits and `_` only;
/// - "at most 512 function declarations can be specified";
/// - every schema has a `type`, or `anyOf` and then nothing else; lists need `items`; an object without properties is refused, and where it
///   is not the model answers `{}`; what is `required` has to be a property; `enum` takes strings that are not empty, and only for strings;
/// - of the formats of strings only `date-time` and `enum` are accepted;
/// - declarations travel in `parameters` (a subset of OpenAPI 3.0, types in any case) or in `parametersJsonSchema` (a subset of JSON Schema,
///   types in lower case, no `nullable`, `pattern` and lengths not listed): what is written here is good for both. `null` is a type in both;
/// - large `maxItems` add up to refusals, so they are told in words (see `write.rs`).
const GEMINI: Dialect = Dialect {
    provider: Provider::Gemini.name(),
    names: Letters { others: "_.:-", digit_first: false, chars_max: 64 },
    keys: Letters { others: "_", digit_first: false, chars_max: 64 },
    functions_max: 512,
    description_chars_max: super::limits::FUNCTION_DESCRIPTION_CHARS_MAX,
    levels_max: 12,
    formats: &["date-time"],
    grammar: Grammar::OpenApiSubset,
};

/// Facts about functions of `chat/completions`, without `strict`:
/// - names match `^[a-zA-Z0-9_-]{1,64}$`; descriptions have at most 1024 characters; at most 128 tools in a request;
/// - the root has type `object`, and no `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not`; objects have `properties`, lists have `items`;
/// - the formats are those that structured outputs list; lists of types are refused by some servers that speak this format, and `anyOf` is not.
///
/// Nothing is documented about keys. Those that pass everywhere are taken, because many providers stand behind this format.
const OPEN_AI: Dialect = Dialect {
    provider: Provider::OpenAi.name(),
    names: Letters { others: "_-", digit_first: true, chars_max: 64 },
    keys: Letters { others: "_.-", digit_first: true, chars_max: 64 },
    functions_max: 128,
    description_chars_max: 1_024,
    levels_max: 16,
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    grammar: Grammar::JsonSchema,
};

/// Facts about `tools` of `messages`:
/// - names match `^[a-zA-Z0-9_-]{1,128}$`; keys match `^[a-zA-Z0-9_.-]{1,64}$`;
/// - `input_schema` is JSON Schema 2020-12 whose root has type `object` and no `oneOf`, `allOf` or `anyOf`;
/// - one schema that is refused refuses the whole request. No number of tools is documented; the bound is ours.
const ANTHROPIC: Dialect = Dialect {
    provider: Provider::Anthropic.name(),
    names: Letters { others: "_-", digit_first: true, chars_max: 128 },
    keys: Letters { others: "_.-", digit_first: true, chars_max: 64 },
    functions_max: 1_000,
    description_chars_max: super::limits::FUNCTION_DESCRIPTION_CHARS_MAX,
    levels_max: 16,
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"],
    grammar: Grammar::JsonSchema,
};
