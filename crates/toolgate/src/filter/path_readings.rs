//! Every way in which a tool may read the text of a path: without what stands around it, decoded, with slashes turned, behind a scheme. Pure.

use super::percent::{decoded as percent_decoded, decoded_anyway, hides_structure};
use crate::limits::{PATH_READINGS_BYTES_MAX, PATH_READINGS_MAX};

/// What stands for the host in `file://localhost/x`, and for nothing in `file:x`.
const BEFORE_HOST: &str = "//";

/// All readings of a text, itself among them. `None` when there are more than can be looked at, or one that cannot be told.
pub(crate) fn readings(text: &str) -> Option<Vec<String>> {
    let mut found = vec![text.to_owned()];
    let (mut looked_at, mut bytes) = (0, 0);
    while let Some(reading) = found.get(looked_at) {
        looked_at += 1;
        let ways = [
            bare(reading).to_owned(),
            percent_decoded(reading),
            reading.replace('\\', "/"),
            reading.chars().filter(|letter| !is_dropped(*letter)).collect(),
            reading.split('\0').next().unwrap_or_default().to_owned(),
            decoded_anyway(reading),
            reading.chars().map(narrow).collect(),
            without_trailing_dots(reading),
        ];
        let ways = ways.into_iter().chain(behind_scheme(reading)).chain(behind_process(reading));
        for way in ways {
            if !found.contains(&way) {
                bytes += way.len();
                found.push(way);
            }
        }
        if found.len() > PATH_READINGS_MAX || bytes > PATH_READINGS_BYTES_MAX {
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
    matches!(
        letter,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The letter that a wide one becomes where texts are normalized: `／ｅｔｃ` is `/etc`.
fn narrow(letter: char) -> char {
    const WIDE_BEFORE_ASCII: u32 = 0xfee0;
    match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - WIDE_BEFORE_ASCII).unwrap_or(letter),
        '\u{2024}' => '.',
        '\u{2044}' | '\u{2215}' => '/',
        other => other,
    }
}

/// The path as systems read it that drop dots and blanks at the end of a step.
fn without_trailing_dots(text: &str) -> String {
    let plain = |step: &str| match step.trim_end_matches(['.', ' ']) {
        "" => step.to_owned(),
        plain => plain.to_owned(),
    };
    text.split('/').map(plain).collect::<Vec<_>>().join("/")
}

/// Whether some programs ignore this character in a path.
fn is_dropped(letter: char) -> bool {
    letter.is_control() || is_unseen(letter)
}

/// Resolves paths through `/proc`: `/proc/self/cwd/x` is `x`, `/proc/1/root/x` is `/x`. The process id
/// does not matter: the reading process may be in the same folder and has the same root.
fn behind_process(text: &str) -> Option<String> {
    let steps = process_steps(text)?;
    let at = steps.iter().position(|step| ["cwd", "root"].iter().any(|link| step.eq_ignore_ascii_case(link)))?;
    let rest = steps.get(at + 1..)?.join("/");
    let is_root = steps.get(at).is_some_and(|step| step.eq_ignore_ascii_case("root"));
    Some(match (is_root, rest.is_empty()) {
        (true, _) => format!("/{rest}"),
        (false, true) => ".".to_owned(),
        (false, false) => rest,
    })
}

/// The steps of a path below `/proc/PID`, without `.` and `..`.
fn process_steps(text: &str) -> Option<Vec<&str>> {
    let mut steps = steps_from_root(text)?;
    let is_process = steps.first().is_some_and(|first| first.eq_ignore_ascii_case("proc")) && steps.len() > 2;
    is_process.then(|| steps.split_off(2))
}

/// The steps of an absolute path, without `.` and `..`. A relative path that climbs above its start counts as absolute, because
/// the root may be where it ends up.
fn steps_from_root(text: &str) -> Option<Vec<&str>> {
    let mut is_from_root = text.starts_with('/');
    let mut steps: Vec<&str> = Vec::new();
    for step in text.split('/').filter(|step| !matches!(*step, "" | ".")) {
        match step {
            // `..` behind such a link leads to the parent of the place that the link points to.
            ".." if steps.iter().any(|step| is_process_link(step)) => steps.push(step),
            ".." => is_from_root |= steps.pop().is_none(),
            step => steps.push(step),
        }
    }
    is_from_root.then_some(steps)
}

/// Entries below `/proc/PID` that are links to other places.
const PROCESS_LINKS: [&str; 5] = ["cwd", "root", "fd", "exe", "map_files"];

fn is_process_link(step: &str) -> bool {
    PROCESS_LINKS.iter().any(|link| step.eq_ignore_ascii_case(link))
}

/// Whether a path leads through an open file or the working directory of a process. Its target is unknown.
pub(crate) fn leads_through_process(text: &str) -> bool {
    let is_open = |steps: &[&str]| matches!(steps, [dev, fd, _, ..] if dev.eq_ignore_ascii_case("dev") && fd.eq_ignore_ascii_case("fd"));
    steps_from_root(text).is_some_and(|steps| is_open(&steps))
        || process_steps(text).is_some_and(|steps| steps.iter().any(|step| is_process_link(step)))
}

/// Whether a program could read a text as another path: it climbs, or is disguised.
pub(crate) fn is_unclear(text: &str) -> bool {
    // Where backslashes are not separators, other programs may still read them so.
    let may_part = !cfg!(windows) && text.contains('\\');
    may_part || text.split(['/', '\\']).any(|part| part == "..") || is_disguised(text)
}

/// Whether a text has a blank or a quote at one of its ends, encoded separators or invisible characters, or leads
/// through a process.
pub(super) fn is_disguised(text: &str) -> bool {
    let is_bare = |text: &str| bare(text) == text;
    !is_bare(text)
        || !is_bare(&percent_decoded(text))
        || text.chars().any(|letter| is_dropped(letter) || narrow(letter) != letter)
        || hides_structure(text)
        || decoded_anyway(text) != text
        || leads_through_process(text)
}

/// A scheme and what stands behind its colon.
fn scheme_of(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.'));
    is_scheme.then_some((scheme, rest))
}

/// Whether it is an address of the web, with a host in it.
pub(crate) fn is_web_address(text: &str) -> bool {
    let Some((scheme, rest)) = scheme_of(text) else { return false };
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    let host = rest.strip_prefix(BEFORE_HOST).and_then(|rest| rest.split(['/', '\\', '?', '#']).next());
    is_web && host.is_some_and(|host| !host.is_empty())
}

/// Whether it is an address of another kind, and not of a file: only its own program knows where it leads.
pub(crate) fn is_other_address(text: &str) -> bool {
    scheme_of(text).is_some_and(|(scheme, rest)| rest.starts_with(BEFORE_HOST) && !is_file(scheme))
        && !is_web_address(text)
}

/// Whether it is an address of a file: what is behind the scheme is the path.
pub(crate) fn is_file_address(text: &str) -> bool {
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
            ("/x%ff/../%65tc", "/x\u{fffd}/../etc"),
            ("%c0%afetc", "/etc"),
            ("／etc", "/etc"),
            ("/etc./passwd. ", "/etc/passwd"),
        ];
        for (text, expected) in cases {
            let found = readings(text).unwrap();
            assert!(found.iter().any(|reading| reading == expected), "{text}: {found:?}");
        }
        assert_eq!(readings("src/main.rs").unwrap().len(), 1);
        assert_eq!(readings(&"x:".repeat(40)), None);
        assert_eq!(readings(&format!(" %20{} ", "\\\n%25".repeat(1_000_000))), None);
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
