//! Cuts text that is too long: on character boundaries, out of the middle, and saying how much.
//!
//! A fifth of what is kept is the beginning and four fifths are the end, where programs put their errors and summaries.

use std::borrow::Cow;
use std::fmt;

/// What was cut, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// How many were kept.
    pub shown: usize,
    /// How many there were.
    pub total: usize,
}

impl Truncation {
    /// How many were left out.
    pub fn omitted(&self) -> usize {
        self.total.saturating_sub(self.shown)
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} characters shown, {} left out", self.shown, self.total, self.omitted())
    }
}

/// One text within a limit of characters; a limit of 0 is none.
pub fn text(text: &str, chars_max: usize) -> (Cow<'_, str>, Option<Truncation>) {
    let (mut pieces, truncation) = across(&[text], chars_max);
    (pieces.pop().flatten().unwrap_or_default(), truncation)
}

/// Several texts within one limit of characters, as if they were one; a limit of 0 is none.
///
/// A text that falls into the gap altogether becomes `None`; the marker with the number of characters stands where the gap begins.
pub fn across<'a>(texts: &[&'a str], chars_max: usize) -> (Vec<Option<Cow<'a, str>>>, Option<Truncation>) {
    let whole = || texts.iter().map(|text| Some(Cow::Borrowed(*text))).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    if chars_max == 0 || bytes <= chars_max {
        return (whole(), None); // There are never more characters than bytes.
    }
    let counts: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let total: usize = counts.iter().sum();
    if total <= chars_max {
        return (whole(), None);
    }
    let head = chars_max / 5;
    let truncation = Truncation { shown: chars_max, total };
    let gap = head..head + truncation.omitted();
    let mut pieces = Vec::with_capacity(texts.len());
    let mut start = 0;
    for (text, count) in texts.iter().zip(counts) {
        pieces.push(without_gap(text, start..start + count, &gap));
        start += count;
    }
    (pieces, Some(truncation))
}

/// One text that covers `place` of the whole, without what falls into `gap`.
fn without_gap<'a>(text: &'a str, place: std::ops::Range<usize>, gap: &std::ops::Range<usize>) -> Option<Cow<'a, str>> {
    if place.end <= gap.start || place.start >= gap.end {
        return Some(Cow::Borrowed(text));
    }
    let tail = if gap.end < place.end { after_chars(text, gap.end - place.start) } else { "" };
    if place.start <= gap.start {
        let head = before_chars(text, gap.start - place.start);
        return Some(Cow::Owned(format!("{head}{}{tail}", marker(gap.len()))));
    }
    (!tail.is_empty()).then_some(Cow::Borrowed(tail))
}

fn marker(omitted: usize) -> String {
    format!("\n\n… [{omitted} characters left out] …\n\n")
}

/// The first `count` characters.
pub(crate) fn before_chars(text: &str, count: usize) -> &str {
    split(text, count).0
}

fn after_chars(text: &str, count: usize) -> &str {
    split(text, count).1
}

fn split(text: &str, count: usize) -> (&str, &str) {
    text.split_at(text.char_indices().nth(count).map_or(text.len(), |(at, _)| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_cut_out_and_counted() {
        let cases = [
            ("0123456789", 0, "0123456789", None),
            ("0123456789", 10, "0123456789", None),
            ("0123456789", 5, "0\n\n… [5 characters left out] …\n\n6789", Some((5, 10))),
            ("äöüßé漢字👍🏽x", 10, "äöüßé漢字👍🏽x", None),
            ("äöüßé漢字👍🏽x", 5, "ä\n\n… [5 characters left out] …\n\n字👍🏽x", Some((5, 10))),
            ("0123456789", 1, "\n\n… [9 characters left out] …\n\n9", Some((1, 10))),
            ("", 5, "", None),
        ];
        for (given, limit, expected, cut) in cases {
            let (shown, truncation) = text(given, limit);
            assert_eq!(shown, expected, "{given} to {limit}");
            assert_eq!(truncation.map(|cut| (cut.shown, cut.total)), cut, "{given} to {limit}");
        }
    }

    #[test]
    fn several_texts_share_one_limit() {
        let marked = |omitted: usize| format!("\n\n… [{omitted} characters left out] …\n\n");
        type Case<'a> = (&'a [&'a str], usize, Vec<Option<String>>);
        let cases: [Case<'_>; 5] = [
            (&["aaaaa", "bbbbb"], 10, vec![Some("aaaaa".into()), Some("bbbbb".into())]),
            (&["aaaaa", "bbbbb"], 5, vec![Some(format!("a{}", marked(5))), Some("bbbb".into())]),
            (&["aaaaa", "bbbbb", "ccccc"], 5, vec![Some(format!("a{}", marked(10))), None, Some("cccc".into())]),
            (&["a", "bbbbbbbbbb", "cccc"], 5, vec![Some("a".into()), Some(marked(10)), Some("cccc".into())]),
            (
                &["ab", "", "cdefghijkl"],
                10,
                vec![Some("ab".into()), Some(String::new()), Some(format!("{}efghijkl", marked(2)))],
            ),
        ];
        for (given, limit, expected) in cases {
            let (shown, _) = across(given, limit);
            let shown: Vec<Option<String>> = shown.into_iter().map(|piece| piece.map(Cow::into_owned)).collect();
            assert_eq!(shown, expected, "{given:?} to {limit}");
        }
    }

    #[test]
    fn every_split_adds_up() {
        let texts = ["αβγδε", "", "x", "漢字かな交じり文", "0123456789"];
        let total: usize = texts.iter().map(|text| text.chars().count()).sum();
        for limit in 1..total {
            let (pieces, truncation) = across(&texts, limit);
            let marker = marker(total - limit);
            let joined: String = pieces.into_iter().flatten().collect();
            assert_eq!(joined.matches(&marker).count(), 1, "limit {limit}: {joined}");
            assert_eq!(joined.replace(&marker, "").chars().count(), limit);
            assert_eq!(truncation.map(|cut| cut.omitted()), Some(total - limit));
        }
    }

    #[test]
    fn it_says_what_was_cut() {
        let truncation = Truncation { shown: 40_000, total: 123_456 };
        assert_eq!(truncation.to_string(), "40000 of 123456 characters shown, 83456 left out");
    }
}
