//! All that a person is shown before they decide about a call, as lines. What servers and models wrote in it cannot act on the terminal, and
//! only our own words begin at the edge.

use toolgate::call::{ConfirmationRequest, Edit};
use toolgate::policy::{Because, RuleOrigin, Verdict};
use toolgate::wire::view::ToolHints;
use toolgate::{Asker, RawJson};

use super::argument_text::argument_lines;
use super::bounded_text::broken;
use super::change_text::{TOLD, change_lines};
use crate::columns::short;
use crate::limits::{CONFIRM_REASONS_MAX, LABEL_CHARS_MAX, QUESTION_CHARS_MAX};
use crate::terminal::Paint;

/// How the lines are made up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// How wide they may be.
    pub(crate) columns: usize,
    /// In which colours.
    pub(crate) paint: Paint,
}

/// What is asked about.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'q> {
    /// Whose tool.
    pub(crate) server: &'q str,
    /// What its server calls it.
    pub(crate) tool: &'q str,
    /// What its server calls it for people.
    pub(crate) title: Option<&'q str>,
    /// What its server says about its effects.
    pub(crate) hints: ToolHints,
    /// The name it was called by.
    pub(crate) called_as: &'q str,
    /// With what.
    pub(crate) arguments: &'q RawJson,
    /// Who asks.
    pub(crate) asked_by: Asker,
    /// Which rule asks, and why.
    pub(crate) verdict: &'q Verdict,
    /// What it would change in a file.
    pub(crate) edit: Option<&'q Edit>,
}

impl<'q> From<&'q ConfirmationRequest> for Question<'q> {
    fn from(request: &'q ConfirmationRequest) -> Self {
        Self {
            server: &request.tool.id.server,
            tool: &request.tool.id.tool,
            title: request.tool.title(),
            hints: request.tool.hints(),
            called_as: &request.name,
            arguments: &request.arguments,
            asked_by: request.asked_by,
            verdict: &request.verdict,
            edit: request.edit.as_ref(),
        }
    }
}

/// All that is shown before the answers.
pub(crate) fn question_lines(question: Question<'_>, look: Look) -> Vec<String> {
    let mut lines = heading(question, look);
    lines.extend(effects(question.hints).map(|words| format!("  its server says: {words}")));
    lines.extend(reasons(question.verdict, look));
    let told: &[&str] = if question.edit.is_some() { &TOLD } else { &[] };
    lines.extend(argument_lines(question.arguments, told, look));
    lines.extend(question.edit.iter().flat_map(|edit| change_lines(edit, look)));
    lines
}

fn heading(question: Question<'_>, look: Look) -> Vec<String> {
    let named = |name: &str| look.paint.bold(short(name, LABEL_CHARS_MAX));
    let (who, tool, server) = (who(question.asked_by), named(question.tool), named(question.server));
    let mut lines = vec![format!("{who} wants to call {tool} of server {server}")];
    let title = question.title.filter(|title| !title.trim().is_empty() && *title != question.tool);
    lines.extend(title.map(|title| format!("  title: {}", short(title, LABEL_CHARS_MAX))));
    if question.called_as != question.tool {
        lines.push(format!("  called as: {}", short(question.called_as, LABEL_CHARS_MAX)));
    }
    lines
}

const fn who(asker: Asker) -> &'static str {
    match asker {
        Asker::Model => "A model",
        Asker::SlashCommand => "Your command",
        Asker::Cli => "This command",
        Asker::GatewayClient => "A client of the gateway",
    }
}

/// What a server says about the effects of a tool, in words. It need not be true.
fn effects(hints: ToolHints) -> Option<String> {
    let said = [
        (hints.read_only_hint, "it only reads", "it changes something"),
        (hints.destructive_hint, "it may destroy something", "it destroys nothing"),
        (hints.idempotent_hint, "doing it twice is like doing it once", "doing it twice is not like doing it once"),
        (hints.open_world_hint, "it reaches the outside world", "it stays where it is"),
    ];
    let words: Vec<&str> =
        said.into_iter().filter_map(|(hint, yes, no)| hint.map(|hint| if hint { yes } else { no })).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Which rule asks, and what made it stricter.
fn reasons(verdict: &Verdict, look: Look) -> Vec<String> {
    let because = match &verdict.because {
        Because::Rule(rule) => place(&rule.origin),
        Because::Filter(origin) => place(origin),
        Because::Remembered(grant) => format!("you allowed it before (grant {}), but", short(grant, LABEL_CHARS_MAX)),
        Because::NoRule => "no rule speaks of it".to_owned(),
    };
    let mut lines: Vec<String> = in_lines("asked because: ", &because, look);
    for adjustment in verdict.adjustments.iter().take(CONFIRM_REASONS_MAX) {
        let words = short(adjustment, QUESTION_CHARS_MAX);
        lines.extend(in_lines("", &words, look).into_iter().map(|line| look.paint.yellow(line).to_string()));
    }
    let more = verdict.adjustments.len().saturating_sub(CONFIRM_REASONS_MAX);
    if more > 0 {
        lines.push(look.paint.yellow(format!("  … and {more} more reasons")).to_string());
    }
    lines
}

fn in_lines(label: &str, words: &str, look: Look) -> Vec<String> {
    let columns = look.columns.saturating_sub(2).max(20);
    broken(&format!("{label}{words}"), columns).into_iter().map(|line| format!("  {line}")).collect()
}

/// Where a rule is written: `User: shell.toml, rule "x" (/…/shell.toml:12)`.
fn place(origin: &RuleOrigin) -> String {
    let mut words = short(&origin.label, LABEL_CHARS_MAX);
    if let Some(name) = &origin.name {
        words = format!("{words}, rule \"{}\"", short(name, LABEL_CHARS_MAX));
    }
    if let Some(file) = &origin.file {
        let line = origin.line.map(|line| format!(":{line}")).unwrap_or_default();
        words = format!("{words} ({}{line})", short(&file.display().to_string(), QUESTION_CHARS_MAX));
    }
    words
}

#[cfg(test)]
#[path = "question_text_tests.rs"]
mod tests;
