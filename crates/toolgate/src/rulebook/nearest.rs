//! Names there are, prepared once: whether a pattern fits one of them, and the one that a mistyped name was to be. The work is bounded.

use std::cell::Cell;
use std::collections::HashSet;

use crate::filter::NamePattern;
use crate::limits::NEAREST_CHARS_MAX;
use crate::shell::Reach;
use crate::shown_name::{folded, spellings};

/// Bits of a mark.
const MARK_BITS: u32 = 64;

/// The work that is left: names looked up and letters compared.
#[derive(Debug)]
pub(super) struct Work(Cell<usize>);

impl Work {
    pub(super) fn of(most: usize) -> Self {
        Self(Cell::new(most))
    }

    /// Takes some of it away. Whether there was enough.
    pub(super) fn take(&self, amount: usize) -> bool {
        let left = self.0.get().checked_sub(amount);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// The letters of a name, with a mark that tells most names apart without comparing them.
#[derive(Debug)]
struct Letters {
    letters: Vec<char>,
    /// One bit for each letter that occurs: a mistake changes two of them at most.
    mark: u64,
}

impl Letters {
    fn of(name: &str) -> Self {
        let letters: Vec<char> = folded(name).chars().take(NEAREST_CHARS_MAX + 1).collect();
        let mark = letters.iter().fold(0, |mark, letter| mark | (1_u64 << (u32::from(*letter) % MARK_BITS)));
        Self { letters, mark }
    }

    fn is_comparable(&self) -> bool {
        self.letters.len() <= NEAREST_CHARS_MAX
    }

    /// Whether at most so many mistakes could lie between both, as far as that is seen at once.
    fn may_be_near(&self, other: &Self, most: usize) -> bool {
        let differing = (self.mark ^ other.mark).count_ones() as usize;
        other.is_comparable()
            && self.letters.len().abs_diff(other.letters.len()) <= most
            && differing <= most.saturating_mul(2)
    }
}

/// The name that is most like another one.
#[derive(Debug)]
pub(super) struct Near<'a> {
    pub(super) name: &'a str,
    /// Letters that differ.
    pub(super) distance: usize,
}

/// Names there are.
#[derive(Debug)]
pub(super) struct Names<'a> {
    all: Vec<(&'a str, Letters)>,
    exact: HashSet<&'a str>,
    /// The names as restrictions know them.
    spelled: HashSet<String>,
}

impl<'a> Names<'a> {
    pub(super) fn of(names: impl Iterator<Item = &'a str>) -> Self {
        let all: Vec<(&str, Letters)> = names.map(|name| (name, Letters::of(name))).collect();
        let exact = all.iter().map(|(name, _)| *name).collect();
        let spelled = all.iter().flat_map(|(name, _)| spellings(name)).collect();
        Self { all, exact, spelled }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.exact.contains(name)
    }

    /// Whether a pattern is about one of them. `None` when there is no work left to find out.
    pub(super) fn fit(&self, pattern: &NamePattern, reach: Reach, work: &Work) -> Option<bool> {
        let cost = if matches!(pattern, NamePattern::Glob(_)) { self.spelled.len() } else { 1 };
        let is_known = work.take(cost.max(1));
        is_known.then(|| match (pattern, reach) {
            (NamePattern::Any, _) => true,
            (NamePattern::Exact(name), Reach::Permission) => self.has(name),
            (NamePattern::Exact(name), Reach::Restriction) => self.spelled.contains(&folded(name)),
            (NamePattern::Glob(_), Reach::Permission) => self.exact.iter().any(|name| pattern.matches(name)),
            (NamePattern::Glob(_), Reach::Restriction) => {
                let pattern = pattern.folded();
                self.spelled.iter().any(|name| pattern.matches(name))
            }
        })
    }
}

/// The name that is most like `written`, with at most `most` mistakes; of several the first.
pub(super) fn nearest<'a>(written: &str, most: usize, among: &[&Names<'a>], work: &Work) -> Option<Near<'a>> {
    let written = Letters::of(written);
    let mut best: Option<Near<'a>> = None;
    for (name, letters) in among.iter().flat_map(|names| &names.all) {
        let most = best.as_ref().map_or(most, |best| best.distance.saturating_sub(1));
        let is_best = best.as_ref().is_some_and(|best| best.distance == 0);
        if is_best || !work.take(1) {
            break;
        }
        if !written.may_be_near(letters, most) {
            continue;
        }
        if !work.take(written.letters.len() * letters.letters.len()) {
            break;
        }
        let distance = distance_within(&written.letters, &letters.letters, most);
        best = distance.map(|distance| Near { name, distance }).or(best);
    }
    best
}

/// The letters that have to be changed, added, left out or swapped with their neighbour. `None` when there are more than `most`.
fn distance_within(one: &[char], other: &[char], most: usize) -> Option<usize> {
    let mut above: Vec<usize> = (0..=other.len()).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut letter_before = None;
    for (nth, letter) in one.iter().enumerate() {
        let mut left = nth + 1;
        let mut row = Vec::with_capacity(above.len());
        row.push(left);
        for (at, ((diagonal, up), own)) in above.iter().zip(above.iter().skip(1)).zip(other).enumerate() {
            left = (diagonal + usize::from(letter != own)).min(up + 1).min(left + 1);
            let at_before = at.checked_sub(1);
            let own_before = at_before.and_then(|at| other.get(at));
            if letter_before == Some(own) && own_before == Some(letter) {
                let swapped = at_before.and_then(|at| before.get(at)).map(|distance| distance + 1);
                left = swapped.map_or(left, |swapped| left.min(swapped));
            }
            row.push(left);
        }
        if row.iter().all(|distance| *distance > most) {
            return None;
        }
        before = std::mem::replace(&mut above, row);
        letter_before = Some(letter);
    }
    above.last().copied().filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use super::{Names, Work, distance_within, nearest};

    #[test]
    fn mistakes_are_counted_up_to_a_limit() {
        let cases = [
            ("", "", 0, Some(0)),
            ("abc", "abc", 0, Some(0)),
            ("abc", "abd", 0, None),
            ("abc", "abd", 1, Some(1)),
            ("abc", "ab", 1, Some(1)),
            ("ab", "abc", 1, Some(1)),
            ("dleete", "delete", 1, Some(1)),
            ("delete", "dleete", 1, Some(1)),
            ("kitten", "sitting", 2, None),
            ("kitten", "sitting", 3, Some(3)),
            ("", "ab", 2, Some(2)),
            ("ab", "", 1, None),
        ];
        for (one, other, most, expected) in cases {
            let letters = |name: &str| name.chars().collect::<Vec<_>>();
            assert_eq!(distance_within(&letters(one), &letters(other), most), expected, "{one} {other} {most}");
        }
    }

    #[test]
    fn the_first_of_the_nearest_names_is_found_while_there_is_work() {
        let names = Names::of(["get_isue", "get_issues", "Get_Issue", "list"].into_iter());
        let cases = [
            ("get_issue", 2, 1_000, Some(("Get_Issue", 0))),
            ("get_issu", 2, 1_000, Some(("Get_Issue", 1))),
            ("drop", 2, 1_000, None),
            ("get_issue", 2, 3, None),
        ];
        for (written, most, work, expected) in cases {
            let found = nearest(written, most, &[&names], &Work::of(work));
            assert_eq!(found.map(|near| (near.name, near.distance)), expected, "{written}");
        }
    }
}
