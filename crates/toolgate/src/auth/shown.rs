//! How addresses and texts of others are shown in the journal and in errors: short, and without what may be a key.

use url::{Origin, Url};

use crate::limits::LOGIN_EXCERPT_CHARS_MAX;
use crate::settings::diagnostic::visible;

/// A URL without what follows the path, which may hold a key.
pub(crate) fn shown(url: &Url) -> String {
    let query = if url.query().is_some() { "?…" } else { "" };
    // What has no host, such as a file, is of no origin that could be shown.
    let origin = match url.origin() {
        origin @ Origin::Tuple(..) => origin.ascii_serialization(),
        Origin::Opaque(_) => format!("{}:", url.scheme()),
    };
    excerpt(&format!("{origin}{}{query}", url.path()))
}

/// The beginning of a text, with its control characters made visible.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let kept: String = text.chars().take(LOGIN_EXCERPT_CHARS_MAX).collect();
    let mark = if kept.len() < text.len() { "…" } else { "" };
    format!("{}{mark}", visible(&kept))
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::{excerpt, shown};

    #[test]
    fn what_follows_the_path_is_not_shown() {
        let cases = [
            ("https://a.example", "https://a.example/"),
            ("https://name:password@a.example/b?key=1#c", "https://a.example/b?…"),
            ("http://localhost:80/b#c", "http://localhost/b"),
            ("file:///etc/passwd", "file:/etc/passwd"),
            ("javascript:alert(1)", "javascript:alert(1)"),
        ];
        for (url, expected) in cases {
            assert_eq!(shown(&Url::parse(url).unwrap()), expected);
        }
    }

    #[test]
    fn long_texts_are_cut_and_cannot_steer_a_terminal() {
        let long = "é".repeat(201);
        let cut = format!("{}…", "é".repeat(200));
        let cases = [(" short \n", "short"), ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"), ("", ""), (&long, &cut)];
        for (text, expected) in cases {
            assert_eq!(excerpt(text), expected);
        }
    }
}
