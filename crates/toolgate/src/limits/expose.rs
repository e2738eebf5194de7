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
