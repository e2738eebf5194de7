//! Members that go, with what clearly belongs to them and nothing else.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp};

use crate::settings::edit::gap::{Kind, Piece, pieces};

/// The text without the members of that name.
pub(super) fn without(text: &str, object: &Object<'_>, name: &str) -> String {
    let members = Members { text, object };
    let is_doomed = |index: &usize| members.all().get(*index).is_some_and(|member| member.name.as_str() == name);
    let mut cuts: Vec<Range<usize>> =
        (0..members.all().len()).filter(is_doomed).flat_map(|index| members.cuts(index)).collect();
    cuts.extend(members.comma_without_successor(is_doomed));
    let inside = members.start()..members.end();
    if members.left_of(&inside, &cuts).trim().is_empty() {
        cuts = vec![inside];
    }
    members.left_of(&(0..text.len()), &cuts)
}

struct Members<'v, 't> {
    text: &'t str,
    object: &'v Object<'t>,
}

impl<'v, 't> Members<'v, 't> {
    fn all(&self) -> &'v [ObjectProp<'t>] {
        &self.object.properties
    }

    fn start(&self) -> usize {
        self.object.range.start + 1
    }

    fn end(&self) -> usize {
        self.object.range.end.saturating_sub(1)
    }

    /// What stands between a member and the one before it, without the comma and what comes before that.
    fn before(&self, index: usize) -> Vec<Piece> {
        let Some(member) = self.all().get(index) else { return Vec::new() };
        let previous = index.checked_sub(1).and_then(|index| self.all().get(index));
        let from = previous.map_or(self.start(), |previous| previous.range.end);
        let mut gap = pieces(self.text, from, member.range.start);
        if let Some(comma) = gap.iter().position(|piece| piece.kind == Kind::Comma) {
            gap.drain(..=comma);
        }
        gap
    }

    /// What stands between a member and the one behind it: up to its comma, the comma, and the rest.
    fn after(&self, index: usize) -> (Vec<Piece>, Option<Piece>, Vec<Piece>) {
        let Some(member) = self.all().get(index) else { return (Vec::new(), None, Vec::new()) };
        let to = self.all().get(index + 1).map_or(self.end(), |next| next.range.start);
        let mut gap = pieces(self.text, member.range.end, to);
        match gap.iter().position(|piece| piece.kind == Kind::Comma) {
            None => (gap, None, Vec::new()),
            Some(comma) => {
                let rest = gap.split_off(comma + 1);
                let comma = gap.pop();
                (gap, comma, rest)
            }
        }
    }

    /// What is cut out for one member.
    fn cuts(&self, index: usize) -> Vec<Range<usize>> {
        let Some(member) = self.all().get(index) else { return Vec::new() };
        let (before, (to_comma, comma, rest)) = (self.before(index), self.after(index));
        if let (Some(start), Some(end)) = (start_of_lines(&before), end_of_line(&to_comma, comma, &rest)) {
            let lines = start..end;
            return vec![lines];
        }
        let member = member.range.start..member.range.end;
        let Some(comma) = comma else { return vec![member] };
        if to_comma.iter().all(|piece| piece.kind.is_space()) {
            let blank = rest.first().filter(|piece| piece.kind == Kind::Blank);
            let with_comma = member.start..blank.map_or(comma.end, |blank| blank.end);
            return vec![with_comma];
        }
        vec![member, comma.start..comma.end]
    }

    /// When the last member goes, and had no comma behind it, the one that becomes the last must not have one either. Where nothing but
    /// space stands between that comma and the member, it goes with them, unless the member had lines of its own.
    fn comma_without_successor(&self, is_doomed: impl Fn(&usize) -> bool) -> Option<Range<usize>> {
        let last = self.all().len().checked_sub(1).filter(&is_doomed)?;
        let (to_brace, comma, rest) = self.after(last);
        if comma.is_some() {
            return None;
        }
        let kept = (0..last).rev().find(|index| !is_doomed(index))?;
        let comma = self.after(kept).1?;
        let before = self.before(last);
        let has_lines = start_of_lines(&before).is_some() && end_of_line(&to_brace, None, &rest).is_some();
        if kept + 1 == last && !has_lines && before.iter().all(|piece| piece.kind.is_space()) {
            let end = self.all().get(last).map_or(comma.end, |member| member.range.end);
            return Some(comma.start..end);
        }
        Some(comma.start..comma.end)
    }

    /// A part of the text without what is cut out.
    fn left_of(&self, part: &Range<usize>, cuts: &[Range<usize>]) -> String {
        let mut cuts = cuts.to_vec();
        cuts.sort_by_key(|cut| cut.start);
        let mut left = String::with_capacity(part.len());
        let mut from = part.start;
        for cut in cuts {
            left.push_str(self.text.get(from..cut.start).unwrap_or_default());
            from = from.max(cut.end);
        }
        left.push_str(self.text.get(from..part.end).unwrap_or_default());
        left
    }
}

/// Where the lines of a member begin, when it begins a line: comments on lines of their own right above it are about it.
fn start_of_lines(before: &[Piece]) -> Option<usize> {
    let mut above = without_blank(before);
    let (own, rest) = above.split_last().filter(|(piece, _)| piece.kind == Kind::Break)?;
    let mut start = own.end;
    above = rest;
    loop {
        let mut line = without_blank(above);
        let mut is_commented = false;
        while let Some((_, rest)) = line.split_last().filter(|(piece, _)| piece.kind.is_comment()) {
            is_commented = true;
            line = without_blank(rest);
        }
        match line.split_last() {
            Some((piece, rest)) if is_commented && piece.kind == Kind::Break => {
                start = piece.end;
                above = rest;
            }
            _ => return Some(start),
        }
    }
}

/// Where the line of a member ends, when nothing but its comma and comments stand behind it.
fn end_of_line(to_comma: &[Piece], comma: Option<Piece>, rest: &[Piece]) -> Option<usize> {
    let behind = match comma {
        Some(_) if to_comma.iter().any(|piece| matches!(piece.kind, Kind::Break | Kind::LineComment)) => return None,
        Some(_) => rest,
        None => to_comma,
    };
    behind.iter().find(|piece| piece.kind == Kind::Break).map(|piece| piece.end)
}

fn without_blank(pieces: &[Piece]) -> &[Piece] {
    match pieces.split_last() {
        Some((last, rest)) if last.kind == Kind::Blank => rest,
        _ => pieces,
    }
}
