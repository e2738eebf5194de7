//! Every way in which a tool may read the text of a path: without what stands around it, decoded, with slashes turned, behind a scheme. Pure.

use crate::filter::percent_decoded;
use crate::limits::PATH_READINGS_MAX;

/// What stands for the host in `file://localhost/x`, and for nothing in `file:x`.
const BEFORE_HOST: &str = "//";

/// All readings of a text, itself among them. `None` when there are more than can be looked at, or one that cannot be told.
pub(super) fn readings(text: &str) -> Option<Vec<String>> {
    let mut found = vec![text.to_owned()];
    let mut looked_at = 0;
    while let Some(reading) = found.get(looked_at) {
        looked_at += 1;
        let ways = [bare(reading).to_owned(), percent_decoded(reading), reading.replace('\\', "/")];
        for way in ways.into_iter().chain(behind_scheme(reading)) {
            if !found.contains(&way) {
                found.push(way);
            }
        }
        if found.len() > PATH_READINGS_MAX {
            return None;
        }
    }
    Some(found)
}

/// Without blanks, marks that nobody sees, and quotes around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|letter: char| {
        letter.is_whitespace() || letter.is_control() || is_unseen(letter) || matches!(letter, '"' | '\'' | '`')
    })
}

fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A scheme and what stands behind its colon.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
    is_scheme.then_some((scheme, rest))
}

/// Whether it is an address of the web, with a host in it.
pub(super) fn is_web_address(text: &str) -> bool {
    let Some((scheme, rest)) = scheme_of(text) else { return false };
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let host = rest.strip_prefix(BEFORE_HOST).and_then(|rest| rest.split(['/', '\\', '?', '#']).next());
    is_web && host.is_some_and(|host| !host.is_empty())
}

/// Whether it is an address of another kind, and not of a file: only its own program knows where it leads.
pub(super) fn is_other_address(text: &str) -> bool {
    scheme_of(text).is_some_and(|(scheme, rest)| rest.starts_with(BEFORE_HOST) && !is_file(scheme))
        && !is_web_address(text)
}

/// Whether it is an address of a file: what is behind the scheme is the path.
pub(super) fn is_file_address(text: &str) -> bool {
    scheme_of(text).is_some_and(|(scheme, _)| is_file(scheme))
}

fn is_file(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("file")
}

/// The paths that may be meant by what stands behind a scheme.
fn behind_scheme(text: &str) -> Vec<String> {
    let Some((scheme, rest)) = scheme_of(text) else { return Vec::new() };
    if is_web_address(text) {
        return Vec::new();
    }
    let with_host = rest.strip_prefix(BEFORE_HOST);
    let after_host = with_host.and_then(|rest| rest.split_at_checked(rest.find('/')?));
    let paths = match (with_host, after_host) {
        (Some(_), Some((host, path))) if is_file(scheme) && (host.is_empty() || host == "localhost") => vec![path],
        (Some(with_host), Some((_, path))) if is_file(scheme) => vec![with_host, path],
        (Some(with_host), _) => vec![with_host],
        (None, _) => vec![rest],
    };
    let without_query = |path: &&str| path.split(['?', '#']).next().map(str::to_owned);
    let cut: Vec<String> = paths.iter().filter_map(without_query).collect();
    paths.into_iter().map(str::to_owned).chain(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::{is_file_address, is_other_address, is_web_address, readings};

    #[test]
    fn a_text_is_read_in_every_way() {
        // text, a reading that is among all, or none
        let cases = [
            ("a/b", "a/b"),
            ("  /etc/passwd", "/etc/passwd"),
            ("\u{feff}/etc/passwd\n", "/etc/passwd"),
            ("\"/etc/passwd\"", "/etc/passwd"),
            ("%2e%2e/x", "../x"),
            ("%252e%252e%252fx", "../x"),
            ("..\\x", "../x"),
            ("%2e%2e%5cx", "../x"),
            ("file:/etc/passwd", "/etc/passwd"),
            ("FILE:///etc/passwd", "/etc/passwd"),
            ("file://localhost/etc/passwd", "/etc/passwd"),
            ("file:%2f%2f%2fetc", "/etc"),
            (" file:..\\x", "../x"),
            ("file:///a/.git?x", "/a/.git"),
            ("x:///etc/passwd", "/etc/passwd"),
            ("x:/etc/passwd", "/etc/passwd"),
            ("jar:file:///etc/x", "/etc/x"),
            ("https:///etc/passwd", "/etc/passwd"),
        ];
        for (text, expected) in cases {
            let found = readings(text).unwrap();
            assert!(found.iter().any(|reading| reading == expected), "{text}: {found:?}");
        }
        assert_eq!(readings("src/main.rs").unwrap().len(), 1);
        assert_eq!(readings(&"x:".repeat(40)), None);
    }

    #[test]
    fn addresses_are_told_from_paths() {
        let cases = [
            ("https://example.org/x", "web"),
            ("HTTP://a", "web"),
            ("https:///x", "other"),
            ("https:x", "none"),
            ("s3://bucket/x", "other"),
            ("file://x", "file"),
            ("File:x", "file"),
            ("main.rs:12", "none"),
            ("src/a://b", "none"),
        ];
        for (text, expected) in cases {
            let found = match (is_web_address(text), is_other_address(text), is_file_address(text)) {
                (true, false, false) => "web",
                (false, true, false) => "other",
                (false, false, true) => "file",
                (false, false, false) => "none",
                _ => "several",
            };
            assert_eq!(found, expected, "{text}");
        }
    }
}
