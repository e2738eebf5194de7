//! A list of which one or several are picked. Pure: keys in, rows out.

use std::collections::BTreeSet;

use super::{Key, Question, Step, View, heading};
use crate::columns::cut;
use crate::terminal::Paint;

/// Rows of a list that are shown at once.
const PAGE: usize = 7;

/// Says why a pick cannot be taken.
type Check<'a> = &'a dyn Fn(usize) -> Result<(), String>;

/// Whether a choice is meant by what was typed.
type Filter = fn(typed: &str, choice: &str) -> bool;

/// What can be picked from.
pub(crate) struct List<'a> {
    question: &'a str,
    choices: Vec<String>,
    /// Where the cursor is among those that are shown.
    at: usize,
    page: usize,
    help: Option<&'a str>,
    filter: Option<Filter>,
    typed: String,
    taken: BTreeSet<usize>,
    check: Option<Check<'a>>,
    wrong: Option<String>,
}

impl<'a> List<'a> {
    /// These choices, the first of which is proposed.
    pub(crate) const fn new(question: &'a str, choices: Vec<String>) -> Self {
        Self {
            question,
            choices,
            at: 0,
            page: PAGE,
            help: None,
            filter: None,
            typed: String::new(),
            taken: BTreeSet::new(),
            check: None,
            wrong: None,
        }
    }

    /// Proposes another one.
    pub(crate) const fn starting_at(mut self, at: usize) -> Self {
        self.at = at;
        self
    }

    /// Shows all of them at once.
    pub(crate) const fn whole(mut self) -> Self {
        self.page = self.choices.len();
        self
    }

    /// What is said below it instead of which keys there are.
    pub(crate) const fn help(mut self, help: Option<&'a str>) -> Self {
        self.help = help;
        self
    }

    /// Typing shows only what is meant by it.
    pub(crate) const fn filtered(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Those that are taken at first.
    pub(crate) fn taking(mut self, taken: impl IntoIterator<Item = usize>) -> Self {
        self.taken.extend(taken);
        self
    }

    /// Whether so many may be taken.
    pub(crate) const fn checked(mut self, check: Check<'a>) -> Self {
        self.check = Some(check);
        self
    }

    /// The choices that are meant by what was typed.
    fn shown(&self) -> Vec<usize> {
        let is_meant =
            |choice: &str| self.filter.is_none_or(|filter| self.typed.is_empty() || filter(&self.typed, choice));
        self.choices.iter().enumerate().filter(|(_, choice)| is_meant(choice)).map(|(at, _)| at).collect()
    }

    /// Moves, or filters. Which one is pointed at.
    fn press(&mut self, key: Key) -> Option<usize> {
        let count = self.shown().len();
        match key {
            Key::Up => self.at = self.at.checked_sub(1).unwrap_or(count.saturating_sub(1)),
            Key::Down => self.at = if self.at + 1 < count { self.at + 1 } else { 0 },
            Key::Home => self.at = 0,
            Key::End => self.at = count.saturating_sub(1),
            Key::Text(text) if self.filter.is_some() => {
                self.typed.push_str(&text);
                self.at = 0;
            }
            Key::Backspace | Key::Clear if self.filter.is_some() => {
                if key == Key::Clear {
                    self.typed.clear();
                }
                let _last = self.typed.pop();
                self.at = 0;
            }
            _ => {}
        }
        self.shown().get(self.at).copied()
    }

    fn view(&self, columns: usize, paint: Paint, mark: impl Fn(usize) -> &'static str, keys: &str) -> View {
        let question =
            if self.typed.is_empty() { self.question.to_owned() } else { format!("{} {}", self.question, self.typed) };
        let mut rows = heading(&question, columns, paint);
        let shown = self.shown();
        if shown.is_empty() {
            rows.push(
                cut("  none of the answers begins or reads like that; Backspace takes it back", columns - 1)
                    .into_owned(),
            );
        }
        // The cursor stays in the middle of the page, where there is more than one.
        let first = self.at.saturating_sub(self.page / 2).min(shown.len().saturating_sub(self.page));
        for (place, choice) in shown.iter().enumerate().skip(first).take(self.page) {
            let words = self.choices.get(*choice).map_or("", String::as_str);
            let pointer = if place == self.at { "> " } else { "  " };
            let row = cut(&format!("{pointer}{}{words}", mark(*choice)), columns - 1).into_owned();
            rows.push(if place == self.at { paint.green(row).to_string() } else { row });
        }
        let more = shown.len().saturating_sub(self.page);
        rows.extend(
            (more > 0).then(|| paint.dim(cut(&format!("  ({} in all)", shown.len()), columns - 1)).to_string()),
        );
        rows.extend(self.wrong.iter().map(|wrong| paint.red(cut(&format!("# {wrong}"), columns - 1)).to_string()));
        let help = self.help.unwrap_or(keys);
        rows.push(paint.dim(cut(&format!("[{help}]"), columns - 1)).to_string());
        View { rows, cursor: None }
    }

    fn ended(&self, picked: &[usize], is_answered: bool) -> String {
        let words: Vec<&str> = picked.iter().filter_map(|at| self.choices.get(*at)).map(String::as_str).collect();
        let words = if is_answered { words.join(", ") } else { "(no answer)".to_owned() };
        format!("> {} {words}", self.question)
    }
}

/// One of a list.
pub(super) struct One<'a>(pub(super) List<'a>);

impl Question for One<'_> {
    type Answer = usize;

    fn press(&mut self, key: Key) -> Step<usize> {
        let is_enter = key == Key::Enter;
        match self.0.press(key) {
            Some(picked) if is_enter => Step::Ends(picked),
            _ => Step::Goes,
        }
    }

    fn view(&self, columns: usize, paint: Paint) -> View {
        let keys = match self.0.filter {
            Some(_) => "↑↓ to move, type to filter, Enter to choose, Esc to leave",
            None => "↑↓ to move, Enter to choose, Esc to leave",
        };
        self.0.view(columns, paint, |_| "", keys)
    }

    fn ended(&self, answer: Option<&usize>) -> String {
        self.0.ended(answer.map(std::slice::from_ref).unwrap_or_default(), answer.is_some())
    }
}

/// Several of a list.
pub(super) struct Several<'a>(pub(super) List<'a>);

impl Question for Several<'_> {
    type Answer = Vec<usize>;

    fn press(&mut self, key: Key) -> Step<Vec<usize>> {
        let list = &mut self.0;
        match key {
            Key::Enter => {
                list.wrong = list.check.and_then(|check| check(list.taken.len()).err());
                if list.wrong.is_none() {
                    return Step::Ends(list.taken.iter().copied().collect());
                }
            }
            Key::Text(text) if text == " " => {
                let pointed_at = list.shown().get(list.at).copied();
                if let Some(at) = pointed_at.filter(|at| !list.taken.remove(at)) {
                    list.taken.insert(at);
                }
            }
            other => drop(list.press(other)),
        }
        Step::Goes
    }

    fn view(&self, columns: usize, paint: Paint) -> View {
        let mark = |at: usize| if self.0.taken.contains(&at) { "[x] " } else { "[ ] " };
        self.0.view(columns, paint, mark, "↑↓ to move, Space to take or leave one, Enter when done, Esc to leave")
    }

    fn ended(&self, answer: Option<&Vec<usize>>) -> String {
        self.0.ended(answer.map(Vec::as_slice).unwrap_or_default(), answer.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::{Key, List, One, Question as _, Several, Step};
    use crate::terminal::Paint;

    fn choices() -> Vec<String> {
        ["Yes", "Yes, always", "No"].map(ToOwned::to_owned).into()
    }

    fn begins(typed: &str, choice: &str) -> bool {
        choice.to_lowercase().starts_with(typed)
    }

    #[test]
    fn keys_move_filter_and_pick() {
        let text = |text: &str| Key::Text(text.to_owned());
        let cases: [(&[Key], Option<usize>); 8] = [
            (&[Key::Enter], Some(0)),
            (&[Key::Down, Key::Down, Key::Down, Key::Down, Key::Enter], Some(1)),
            (&[Key::Up, Key::Enter], Some(2)),
            (&[Key::End, Key::Up, Key::Enter], Some(1)),
            (&[text("n"), Key::Enter], Some(2)),
            (&[text("x"), Key::Enter], None),
            (&[text("x"), Key::Backspace, Key::Enter], Some(0)),
            (&[text("x"), Key::Clear, text("y"), Key::Down, Key::Enter], Some(1)),
        ];
        for (keys, expected) in cases {
            let mut list = One(List::new("Which?", choices()).filtered(begins));
            let picked = keys.iter().find_map(|key| match list.press(key.clone()) {
                Step::Ends(picked) => Some(picked),
                Step::Goes => None,
            });
            assert_eq!(picked, expected, "{keys:?}");
        }
    }

    #[test]
    fn what_is_shown_fits_and_an_empty_list_says_so() {
        let mut list = One(List::new("Which?", choices()).starting_at(2).filtered(begins));
        let rows = |list: &One<'_>, columns: usize| list.view(columns, Paint::default()).rows;
        assert_eq!(
            rows(&list, 40),
            ["? Which?", "  Yes", "  Yes, always", "> No", "[↑↓ to move, type to filter, Enter to c…]"]
                .map(|row| crate::columns::cut(row, 39))
        );
        assert!(matches!(list.press(Key::Text("x".to_owned())), Step::Goes));
        let none = rows(&list, 100);
        assert!(none[0] == "? Which? x" && none[1].contains("Backspace takes it back"), "{none:?}");
        let many = One(List::new("Which?", (0..50).map(|at| at.to_string()).collect()).starting_at(49));
        assert!(rows(&many, 40).contains(&"> 49".to_owned()), "{:?}", rows(&many, 40));
        assert_eq!(rows(&many, 40).len(), 10);
    }

    #[test]
    fn several_are_taken_within_bounds() {
        let check = |count: usize| if count == 1 { Ok(()) } else { Err("one of them".to_owned()) };
        let mut list = Several(List::new("Which?", choices()).taking([0, 2]).checked(&check));
        let space = || Key::Text(" ".to_owned());
        assert!(matches!(list.press(Key::Enter), Step::Goes));
        assert!(list.view(60, Paint::default()).rows.contains(&"# one of them".to_owned()));
        assert!(matches!(list.press(space()), Step::Goes));
        assert!(matches!(list.press(Key::Enter), Step::Ends(taken) if taken == [2]));
    }
}
