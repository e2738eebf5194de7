//! `*` in names: it stands for anything, and the pattern is about the whole name.

/// Whether `pattern`, in which `*` stands for anything, is the whole of `text`.
pub(crate) fn glob(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::glob;

    #[test]
    fn stars_stand_for_anything() {
        let cases = [
            ("a", "a", true),
            ("a", "ab", false),
            ("", "x", false),
            ("*", "", true),
            ("*", "anything", true),
            ("**", "x", true),
            ("git*", "github", true),
            ("*hub", "github", true),
            ("g*t*b", "github", true),
            ("g*t*b", "gtb", true),
            ("g*b*t", "github", false),
            ("ab*ba", "aba", false),
            ("ab*ba", "abba", true),
            ("a*b*a", "aba", true),
            ("a**b", "ab", true),
            ("*a*a*", "a", false),
            ("*漢*", "a漢字", true),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(glob(pattern, name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn many_stars_take_no_longer() {
        let pattern = "*a".repeat(1_000) + "b";
        assert!(!glob(&pattern, &"a".repeat(200_000)));
    }
}
