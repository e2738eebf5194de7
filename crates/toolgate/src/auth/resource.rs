//! What a token is for (RFC 8707): the value that stands for a server, and whether a document about a resource is about that server.

use url::Url;

/// The value that stands for a server: its URL without query and fragment, and without a slash that nobody wrote.
///
/// Of `https://Host.example:443` the canonical form is `https://host.example`; a path is kept as it is.
pub(crate) fn resource_of(server: &Url) -> String {
    let path = match server.path() {
        "/" => "",
        path => path,
    };
    format!("{}{path}", server.origin().ascii_serialization())
}

/// Whether `resource`, as a document says it, stands for the server: the same, or one above it on the same origin.
///
/// 2025-11-25 lets a server be known by a less specific resource. `/mc` is not above `/mcp`: segments count as a whole.
pub(crate) fn covers(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let is_plain = matches!(resource.scheme(), "http" | "https")
        && resource.username().is_empty()
        && resource.password().is_none()
        && resource.fragment().is_none();
    // A query is part of what a resource is called, so only the very same one will do.
    let same_query = resource.query().is_none() || resource.query() == server.query();
    let (above, path) = (without_slash(resource.path()), without_slash(server.path()));
    let is_above = path.strip_prefix(above).is_some_and(|below| below.is_empty() || below.starts_with('/'));
    is_plain && same_query && is_above && resource.origin() == server.origin()
}

fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

#[cfg(test)]
#[path = "resource_tests.rs"]
mod tests;
