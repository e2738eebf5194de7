//! What stands between two members of an object: blanks, line breaks, comments, and at most one comma.

/// One piece of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Blank,
    /// `\n` or `\r\n`.
    Break,
    /// `// …` up to the end of its line.
    LineComment,
    /// `/* … */`, over as many lines as it likes.
    BlockComment,
    Comma,
}

impl Kind {
    pub(super) const fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }

    /// Whether nothing is lost when it is cut out.
    pub(super) const fn is_space(self) -> bool {
        matches!(self, Self::Blank | Self::Break)
    }
}

/// The pieces between two offsets of a text that has been parsed.
pub(super) fn pieces(text: &str, from: usize, to: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = from;
    while start < to {
        let Some(rest) = text.get(start..to) else { break };
        let (kind, length) = first(rest);
        let end = start + length;
        pieces.push(Piece { kind, start, end });
        start = end;
    }
    pieces
}

fn first(rest: &str) -> (Kind, usize) {
    if rest.starts_with("\r\n") {
        (Kind::Break, 2)
    } else if rest.starts_with('\n') {
        (Kind::Break, 1)
    } else if rest.starts_with(',') {
        (Kind::Comma, 1)
    } else if rest.starts_with("//") {
        (Kind::LineComment, rest.find(['\n', '\r']).unwrap_or(rest.len()))
    } else if rest.starts_with("/*") {
        let inside = rest.get(2..).unwrap_or_default();
        (Kind::BlockComment, inside.find("*/").map_or(rest.len(), |end| end + 4))
    } else {
        // Always something: what is left is a blank, and where the next thing begins is behind it.
        let ends = |(at, letter): &(usize, char)| {
            *at > 0
                && (!letter.is_whitespace()
                    || *letter == '\n'
                    || rest.get(*at..).is_some_and(|rest| rest.starts_with("\r\n")))
        };
        (Kind::Blank, rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, pieces};

    #[test]
    fn a_gap_is_taken_apart() {
        let text = " , // a\r\n\t/* b\n*/\u{3000}\r/**/";
        let found: Vec<(Kind, &str)> =
            pieces(text, 0, text.len()).iter().map(|one| (one.kind, text.get(one.start..one.end).unwrap())).collect();
        let expected = [
            (Kind::Blank, " "),
            (Kind::Comma, ","),
            (Kind::Blank, " "),
            (Kind::LineComment, "// a"),
            (Kind::Break, "\r\n"),
            (Kind::Blank, "\t"),
            (Kind::BlockComment, "/* b\n*/"),
            (Kind::Blank, "\u{3000}\r"),
            (Kind::BlockComment, "/**/"),
        ];
        assert_eq!(found, expected);
        assert!(pieces("", 0, 0).is_empty());
    }
}
