//! What a path may look like before the file system is asked: everything that is refused for how it is written.
//!
//! Nothing here makes a path safe, `confine` does. This is for paths that mean something else to their writer than to the system (`~`,
//! URLs, `..\`), which would end in a puzzling "does not exist" or in a file with a strange name.

use crate::error::{Failure, shown};
use crate::limits::PATH_BYTES_MAX;

/// Letters that look like a dot, and the escape that stands for one in URLs.
const DOTS: [&str; 6] = ["\u{2024}", "\u{ff0e}", "\u{fe52}", "\u{00b7}", "%2e", "%2E"];

/// What looks like two dots.
const TWO_DOTS: [&str; 2] = ["\u{2025}", "\u{fe30}"];

/// Letters that look like a slash or separate folders elsewhere, and their escapes in URLs.
const SLASHES: [&str; 10] =
    ["\\", "\u{2044}", "\u{2215}", "\u{29f8}", "\u{ff0f}", "\u{ff3c}", "%2f", "%2F", "%5c", "%5C"];

/// Letters that cannot be seen.
const UNSEEN: [&str; 6] = ["\u{200b}", "\u{200c}", "\u{200d}", "\u{2060}", "\u{feff}", "\u{00ad}"];

/// Refuses a path that cannot mean a file of the workspace. `what` names the argument.
pub(crate) fn check(what: &str, text: &str) -> Result<(), Failure> {
    let refuse = |why: &str| Err(Failure::new(format!("`{what}` is `{}`: {why}", shown(text))));
    if text.trim().is_empty() {
        return Err(Failure::new(format!("`{what}` is empty; `.` is the workspace folder itself")));
    }
    if text.len() > PATH_BYTES_MAX {
        let size = text.len();
        return Err(Failure::new(format!(
            "`{what}` has {size} bytes, more than a path can have (limit PATH_BYTES_MAX = {PATH_BYTES_MAX}); give a shorter one"
        )));
    }
    if text.contains('\0') {
        return refuse("a path cannot contain the character NUL; leave it out");
    }
    if text == "~" || text.starts_with("~/") {
        return refuse("`~` is not replaced by a home folder; give a path relative to the workspace");
    }
    if let Some((scheme, _)) = text.split_once("://")
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric())
    {
        return refuse("this is a URL; give a path relative to the workspace");
    }
    if has_drive(text) {
        return refuse(
            "drive letters do not exist here; give a path relative to the workspace, with `/` between folders",
        );
    }
    if climbs(text) {
        return refuse("it climbs out of the workspace; give a path relative to the workspace, without `..`");
    }
    if parents(&plain(text)) > parents(text) {
        return refuse(
            "it contains something that looks like `..` but is not; separate folders with `/` and write the name itself",
        );
    }
    Ok(())
}

/// Whether a part of `text` between slashes is `..`, or looks like it.
pub(crate) fn has_parent(text: &str) -> bool {
    parents(&plain(text)) > 0
}

/// Whether more `..` than folders come first, seen from where a relative path starts.
fn climbs(text: &str) -> bool {
    let mut depth = 0_usize;
    for part in text.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            let Some(above) = depth.checked_sub(1) else { return true };
            depth = above;
        } else {
            depth += 1;
        }
    }
    false
}

fn has_drive(text: &str) -> bool {
    let mut letters = text.chars();
    let is_drive = letters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && letters.next() == Some(':');
    is_drive && matches!(letters.next(), Some('/' | '\\'))
}

fn parents(text: &str) -> usize {
    text.split('/').filter(|part| *part == "..").count()
}

/// `text` with everything replaced that looks like a dot or a slash.
fn plain(text: &str) -> String {
    let replace_all = |text: String, all: &[&str], by: &str| {
        all.iter().fold(text, |text, letter| if text.contains(letter) { text.replace(letter, by) } else { text })
    };
    let text = replace_all(text.to_owned(), &UNSEEN, "");
    let text = replace_all(text, &DOTS, ".");
    let text = replace_all(text, &TWO_DOTS, "..");
    replace_all(text, &SLASHES, "/")
}

#[cfg(test)]
mod tests {
    use super::{check, has_parent};

    #[test]
    fn what_is_written_wrongly_is_refused_with_a_reason() {
        let long = "a/".repeat(3000);
        let cases = [
            ("", "empty"),
            ("  ", "empty"),
            ("a\0b", "NUL"),
            (long.as_str(), "PATH_BYTES_MAX"),
            ("~", "home"),
            ("~/x", "home"),
            ("file:///etc/passwd", "URL"),
            ("FILE://x", "URL"),
            ("C:\\x", "drive"),
            ("c:/x", "drive"),
            ("..", "climbs"),
            ("a/../..", "climbs"),
            ("./../a", "climbs"),
            ("..\\..\\x", "looks like"),
            ("a\\..\\x", "looks like"),
            ("%2e%2E/x", "looks like"),
            ("..%2fx", "looks like"),
            ("\u{2024}\u{2024}/x", "looks like"),
            ("\u{ff0e}\u{ff0e}\u{ff0f}x", "looks like"),
            ("\u{2025}/x", "looks like"),
            (".\u{200b}./x", "looks like"),
        ];
        for (text, reason) in cases {
            let failure = check("path", text).unwrap_err().to_string();
            assert!(failure.contains(reason), "{text:?}: {failure}");
        }
    }

    #[test]
    fn ordinary_names_pass() {
        for text in
            [".", "a", "a/../b", "./a//b/", "...", "a..b", "~a", "a~", "a:b", "…", "日本", "back\\slash", "%20", " a"]
        {
            assert_eq!(check("path", text), Ok(()), "{text:?}");
        }
        assert!(has_parent("**/../x") && has_parent("..") && !has_parent("a..b/*"));
    }
}
