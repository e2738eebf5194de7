//! The parts of the line that is typed, as the editor wants them: what stands before it, what it could become, how it is coloured.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use reedline::{
    Color, Completer, CompletionResult, DefaultHinter, EditCommand, EditMode, Emacs, Highlighter, Hinter, History,
    Prompt, PromptEditMode, PromptHistorySearch, ReedlineEvent, ReedlineRawEvent, Span, StyledText, Suggestion,
    ValidationResult, Validator,
};
use rustix::termios::tcgetwinsize;
use toolgate::shape::visible;

use super::background::Signs;
use super::complete::{Candidate, candidates};
use super::line::{Line, find, goes_on};
use super::live_offer::LiveOffer;
use super::status::Standing;
use crate::columns::summary;

/// How wide a terminal is that does not say.
const COLUMNS: usize = 80;

/// What stands before the line.
pub(super) const PROMPT: &str = "> ";

/// What stands before the lines that it goes on in.
const MORE: &str = "· ";

/// What stands before the line, and beside it.
#[derive(Debug)]
pub(super) struct PromptLine {
    pub(super) standing: Arc<Standing>,
    pub(super) signs: Arc<Signs>,
}

impl Prompt for PromptLine {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        self.signs.draws();
        "".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        let measured = tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
        // With a distance to what is typed: without room for both, it gives way.
        format!("  {}", self.standing.text(measured.filter(|columns| *columns > 0).unwrap_or(COLUMNS))).into()
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        PROMPT.into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        MORE.into()
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        format!("(looking back for `{}`) ", visible::line(&search.term)).into()
    }

    fn get_prompt_right_color(&self) -> Color {
        Color::DarkGray
    }
}

/// A line that was entered, as it stays on the screen: without what stood beside it, which would cover its end.
#[derive(Debug)]
pub(super) struct EnteredLine;

impl Prompt for EnteredLine {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        "".into()
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        PROMPT.into()
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        MORE.into()
    }

    fn render_prompt_history_search_indicator(&self, _search: PromptHistorySearch) -> Cow<'_, str> {
        PROMPT.into()
    }
}

/// Completes with what the servers offer at this moment.
pub(super) struct CompletesLive(pub(super) LiveOffer);

impl Completer for CompletesLive {
    fn complete(&mut self, line: &str, pos: usize) -> CompletionResult {
        let before = line.get(..pos).unwrap_or(line);
        let found = candidates(before, &self.0);
        let suggestion = |candidate: Candidate| Suggestion {
            value: candidate.text,
            description: candidate.about.map(|about| visible::line(summary(&about)).into_owned()),
            span: Span::new(found.start, before.len()),
            append_whitespace: candidate.is_whole,
            ..Suggestion::default()
        };
        CompletionResult::fresh(found.all.into_iter().map(suggestion).collect::<Vec<_>>())
    }
}

/// What could be typed next, behind the cursor: what a command takes, or the rest of an earlier line.
pub(super) struct Hints {
    earlier: DefaultHinter,
    offer: LiveOffer,
    is_earlier: bool,
}

impl Hints {
    pub(super) fn new(offer: LiveOffer, colours: bool) -> Self {
        let earlier = DefaultHinter::default();
        let earlier = if colours { earlier.with_style(Color::DarkGray.normal()) } else { earlier };
        Self { earlier, offer, is_earlier: false }
    }
}

impl Hinter for Hints {
    fn handle(&mut self, line: &str, pos: usize, history: &dyn History, colours: bool, cwd: &str) -> String {
        let usage = if pos == line.len() { super::complete::usage_hint(line, &self.offer) } else { None };
        self.is_earlier = usage.is_none();
        match usage {
            Some(usage) => {
                // It is no part of what is typed.
                let _unused = self.earlier.handle("", 0, history, colours, cwd);
                let usage = visible::line(&usage);
                if colours { Color::DarkGray.paint(usage).to_string() } else { usage.into_owned() }
            }
            None => self.earlier.handle(line, pos, history, colours, cwd),
        }
    }

    fn complete_hint(&self) -> String {
        if self.is_earlier { self.earlier.complete_hint() } else { String::new() }
    }

    fn next_hint_token(&self) -> String {
        if self.is_earlier { self.earlier.next_hint_token() } else { String::new() }
    }
}

/// Colours the name of a command, and remembers whether there is anything on the line.
pub(super) struct Coloured {
    pub(super) is_empty: Arc<AtomicBool>,
    /// Whether there was anything on it since somebody asked last.
    pub(super) is_edited: Arc<AtomicBool>,
}

impl Highlighter for Coloured {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        let is_empty = line.trim().is_empty();
        self.is_empty.store(is_empty, Ordering::Relaxed);
        self.is_edited.fetch_or(!is_empty, Ordering::Relaxed);
        let mut styled = StyledText::new();
        let name_end = match Line::of(line) {
            Line::Slash { name, .. } if find(name).is_some() => {
                line.find('/').map_or(0, |slash| slash + 1 + name.len())
            }
            _ => 0,
        };
        let (name, rest) = line.split_at_checked(name_end).unwrap_or(("", line));
        styled.push((Color::Cyan.normal(), name.to_owned()));
        styled.push((Color::Default.normal(), rest.to_owned()));
        styled
    }
}

/// Keys as in Emacs. What is pasted and would act on the terminal, or hide, is shown instead.
pub(super) struct HarmlessPaste(pub(super) Emacs);

impl EditMode for HarmlessPaste {
    fn parse_event(&mut self, event: ReedlineRawEvent) -> ReedlineEvent {
        let harmless = |command| match command {
            EditCommand::InsertString(text) => EditCommand::InsertString(visible::text(&text).into_owned()),
            other => other,
        };
        match self.0.parse_event(event) {
            ReedlineEvent::Edit(commands) => ReedlineEvent::Edit(commands.into_iter().map(harmless).collect()),
            other => other,
        }
    }

    fn edit_mode(&self) -> PromptEditMode {
        self.0.edit_mode()
    }
}

/// Whether the line goes on.
pub(super) struct GoesOn;

impl Validator for GoesOn {
    fn validate(&self, line: &str) -> ValidationResult {
        if goes_on(line) { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}
