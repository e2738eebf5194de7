//! Whether a URI belongs to a family of resources (RFC 6570).
//!
//! `{name}` stands for one part of a path, as its expansion has no `/`. What the other operators (`{+name}`, `{/name}`, `{?name}`) expand to is not taken apart: they
//! stand for anything.

use std::collections::BTreeMap;

use crate::limits::{TEMPLATED_URI_BYTES_MAX, URI_TEMPLATE_BYTES_MAX, URI_TEMPLATE_VARIABLES_MAX};

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece<'a> {
    Literal(&'a str),
    /// One part of a path, not empty.
    Part(&'a str),
    /// Anything, also nothing.
    Any,
}

/// The values of the plain variables if `uri` can come from `template`. The work is bounded by the size of both.
pub fn fits<'u>(template: &str, uri: &'u str) -> Option<BTreeMap<String, &'u str>> {
    if template.len() > URI_TEMPLATE_BYTES_MAX || uri.len() > TEMPLATED_URI_BYTES_MAX {
        return None;
    }
    let pieces = pieces(template)?;
    // Where each piece can begin and the whole still fits, from the last to the first.
    let mut ends: Vec<Vec<bool>> = vec![(0..=uri.len()).map(|at| at == uri.len()).collect()];
    for piece in pieces.iter().rev() {
        let begins = begins(*piece, uri, ends.last()?);
        ends.push(begins);
    }
    ends.reverse();
    if !*ends.first()?.first()? {
        return None;
    }
    let mut values = BTreeMap::new();
    let mut at = 0;
    for (piece, after) in pieces.iter().zip(ends.iter().skip(1)) {
        let end = match piece {
            Piece::Literal(text) => at + text.len(),
            // As much as can be: a variable in front of a dot takes the dots before the last.
            Piece::Part(_) | Piece::Any => {
                let most = reach(*piece, uri, at);
                (at..=most).rev().find(|end| after.get(*end) == Some(&true) && uri.is_char_boundary(*end))?
            }
        };
        if let Piece::Part(name) = piece {
            values.insert((*name).to_owned(), uri.get(at..end)?);
        }
        at = end;
    }
    Some(values)
}

/// Where a piece can begin so that what is behind it can begin where it ends.
fn begins(piece: Piece<'_>, uri: &str, after: &[bool]) -> Vec<bool> {
    let mut begins = vec![false; uri.len() + 1];
    match piece {
        Piece::Literal(text) => {
            for (at, begins) in begins.iter_mut().enumerate() {
                let is_there = uri.get(at..).is_some_and(|rest| rest.starts_with(text));
                *begins = is_there && after.get(at + text.len()) == Some(&true);
            }
        }
        Piece::Part(_) | Piece::Any => {
            // From the end: whether a place where it may end can be reached from here.
            let mut can_end = false;
            for at in (0..=uri.len()).rev() {
                let is_slash = uri.as_bytes().get(at) == Some(&b'/');
                let ends_here = after.get(at) == Some(&true);
                if piece == Piece::Any {
                    can_end |= ends_here;
                    if let Some(begins) = begins.get_mut(at) {
                        *begins = can_end;
                    }
                    continue;
                }
                if let Some(begins) = begins.get_mut(at) {
                    *begins = can_end && !is_slash;
                }
                can_end = ends_here || (can_end && !is_slash);
            }
        }
    }
    begins
}

/// How far a variable that begins at `at` can go.
fn reach(piece: Piece<'_>, uri: &str, at: usize) -> usize {
    let rest = uri.get(at..).unwrap_or_default();
    match piece {
        Piece::Part(_) => at + rest.find('/').unwrap_or(rest.len()),
        Piece::Literal(_) | Piece::Any => uri.len(),
    }
}

/// The pieces of a template, if it is one.
fn pieces(template: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (expression, after) = behind.split_once('}')?;
        pieces.push(Piece::Literal(literal));
        let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '.' | '%');
        let is_name = !expression.is_empty() && expression.chars().all(is_plain);
        pieces.push(if is_name { Piece::Part(expression) } else { Piece::Any });
        rest = after;
    }
    pieces.push(Piece::Literal(rest));
    (pieces.len() <= 2 * URI_TEMPLATE_VARIABLES_MAX + 1).then_some(pieces)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn uris_are_taken_apart_by_their_template() {
        let cases = [
            ("docs://start", "docs://start", Some("")),
            ("docs://start", "docs://stars", None),
            ("docs://{page}", "docs://start", Some("page=start")),
            ("docs://{page}", "docs://", None),
            ("docs://{page}", "docs://a/b", None),
            ("docs://{+page}", "docs://a/b", Some("")),
            ("repo://{owner}/{name}/readme", "repo://acme/site/readme", Some("name=site owner=acme")),
            ("repo://{owner}/{name}/readme", "repo://acme/readme", None),
            ("f:///{name}.{ext}", "f:///a.b.txt", Some("ext=txt name=a.b")),
            ("f:///{name}{?page}", "f:///a?page=2", Some("name=a?page=2")),
            ("x:{a}{b}", "x:12", Some("a=1 b=2")),
            ("x:{a}{b}", "x:1", None),
            ("x:{ä}", "x:größe", Some("ä=größe")),
            ("x:{a", "x:1", None),
            ("{a}", "", None),
        ];
        for (template, uri, expected) in cases {
            let told = fits(template, uri).map(|values| {
                let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
                values.join(" ")
            });
            assert_eq!(told.as_deref(), expected, "{template} {uri}");
        }
    }

    #[test]
    fn many_variables_take_no_longer_than_their_number() {
        let template = format!("x:{}z", "{a}".repeat(32));
        assert!(fits(&template, &format!("x:{}", "y".repeat(8_000))).is_none());
        assert!(fits(&template, &format!("x:{}z", "y".repeat(8_000))).is_some());
        assert!(fits(&format!("x:{}", "{a}".repeat(33)), &"x".repeat(100)).is_none());
        assert!(fits(&"{a}".repeat(10_000), "x").is_none());
    }
}
