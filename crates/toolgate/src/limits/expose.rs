//! Bounds on what front ends are offered, and on what people and models type about it.

/// One line behind a slash command. Longer ones are no line that somebody typed.
pub const COMMAND_LINE_BYTES_MAX: usize = 1024 * 1024;

/// References in one prompt; each may be a request to a server.
pub const REFERENCES_MAX: usize = 64;

/// The pattern of a family of resources that URIs are compared with.
pub const URI_TEMPLATE_BYTES_MAX: usize = 4_096;

/// Variables in one such pattern; each is work for every byte of a URI.
pub const URI_TEMPLATE_VARIABLES_MAX: usize = 32;

/// A URI that is compared with such patterns.
pub const TEMPLATED_URI_BYTES_MAX: usize = 8_192;

/// Resources and templates that are listed to a model at once; it can ask for those of one server.
pub const LISTED_RESOURCES_MAX: usize = 500;

/// The description of one resource in such a list.
pub const LISTED_DESCRIPTION_CHARS_MAX: usize = 200;

/// One question to the search of tools.
pub const SEARCH_QUESTION_CHARS_MAX: usize = 2_000;

/// One text of a tool that is searched: a name, a description, or what is said about all its parameters.
pub const SEARCHED_TEXT_CHARS_MAX: usize = 8_000;

/// Parameters of one tool that are searched, and choices of one of them.
pub const SEARCHED_PARAMETERS_MAX: usize = 100;

/// Tokens of declarations above which tools are searched for: a model still has the most part of a small context for its work.
pub const SEARCH_ABOVE_TOKENS_COUNT: usize = 10_000;

/// Tools above which they are searched for: models choose worse among more, and some providers take no more than 128.
pub const SEARCH_ABOVE_TOOLS_COUNT: usize = 100;

/// Tools that a search of a model names when it does not say how many.
pub const FOUND_TOOLS_COUNT: usize = 8;

/// Tools that a search names at most.
pub const FOUND_TOOLS_MAX: usize = 25;

/// The description of one tool in a list of those that were found.
pub const FOUND_DESCRIPTION_CHARS_MAX: usize = 300;

/// Parameters of one tool that are named in such a list.
pub const FOUND_PARAMETERS_MAX: usize = 12;

/// Servers that are named to a model which searches for tools.
pub const NAMED_SERVERS_MAX: usize = 40;
