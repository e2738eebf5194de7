//! Here-documents: where a shell ends them, and what it runs inside.

use tree_sitter::Node;

use super::grammar::text_of;
use super::script::{Unreadable, excerpt};
use super::words::expands;

/// What is told apart of a here-document: `<<WORD`, its body and its end.
pub(super) struct HereDocument<'tree> {
    pub(super) operator: Node<'tree>,
    pub(super) start: Node<'tree>,
    pub(super) body: Node<'tree>,
    pub(super) end: Node<'tree>,
}

impl<'tree> HereDocument<'tree> {
    /// Whether a shell ends it where the grammar does and expands in it what the grammar says; then the places it expands.
    pub(super) fn expanded(&self, text: &str) -> Result<Vec<Node<'tree>>, Unreadable> {
        let written = text_of(self.start, text);
        let (delimiter, is_quoted) = delimiter(written).ok_or_else(|| refused(written))?;
        let strips = text_of(self.operator, text) == "<<-";
        // A body begins on the line behind its operator, and no other stands in between.
        let line_start = self::line_start(text, self.operator.start_byte());
        let line = text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let body_start = line_start + line.len() + 1;
        if line.replace("<<<", "").matches("<<").count() != 1 || self.body.start_byte() < body_start {
            return Err(refused(written));
        }
        let end_line = self::line_start(text, self.end.start_byte());
        let body = text.get(body_start.min(end_line)..end_line).unwrap_or_default();
        let last = text.get(end_line..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let last = if strips { last.trim_start_matches('\t') } else { last };
        if last != delimiter || body.lines().any(|line| line.trim() == delimiter) {
            return Err(refused(written));
        }
        if is_quoted {
            return if self.body.named_child_count() == 0 { Ok(Vec::new()) } else { Err(refused(written)) };
        }
        if body.contains("\\\n") || body.contains("<<") {
            return Err(refused(written));
        }
        self.holes(text, body_start..end_line).ok_or_else(|| refused(written))
    }

    fn holes(&self, text: &str, range: std::ops::Range<usize>) -> Option<Vec<Node<'tree>>> {
        let mut holes = Vec::new();
        let mut at = range.start;
        for child in self.body.named_children(&mut self.body.walk()) {
            if child.kind() == "heredoc_content" {
                continue;
            }
            is_inert(text.get(at..child.start_byte())?).then_some(())?;
            at = child.end_byte();
            holes.push(child);
        }
        is_inert(text.get(at..range.end)?).then_some(holes)
    }
}

/// Where the line begins that a place is on.
fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

fn refused(written: &str) -> Unreadable {
    let shown = excerpt(written);
    Unreadable::because(format!(
        "where the here-document `{shown}` ends or what runs in it cannot be told; write it to a file"
    ))
}

/// The word that ends it, and whether its body is taken as it is.
fn delimiter(written: &str) -> Option<(&str, bool)> {
    let unquoted = written
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .or_else(|| written.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')))
        .or_else(|| written.strip_prefix('\\'));
    let (delimiter, is_quoted) = unquoted.map_or((written, false), |inner| (inner, true));
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    (!delimiter.is_empty() && delimiter.chars().all(is_plain)).then_some((delimiter, is_quoted))
}

/// Whether a shell expands nothing in a part of a body.
fn is_inert(part: &str) -> bool {
    let mut rest = part.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '\\' => {
                rest.next();
            }
            '`' => return false,
            '$' if expands(rest.as_str()) => return false,
            _ => {}
        }
    }
    true
}
