//! Asks the person at the terminal before a call is made. They see what is called with what, and who wants it; leaving the question is a no.

mod argument_text;
mod bounded_text;
mod change_text;
mod question_text;

use std::io::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rustix::termios::tcgetwinsize;
use serde::{Deserialize, Serialize};
use toolgate::Asker as CallAsker;
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;

use crate::columns::{short, width};
use crate::limits::{CHOICE_NAME_CHARS_MAX, REFUSAL_CHARS_MAX};
use crate::prompt::{Left, List, Prompt, Typed};
use crate::question::Asker;
use crate::talk::Talk;

pub(crate) use question_text::Look;
use question_text::{Question, question_lines};

/// How wide a terminal is that does not say.
const COLUMNS: usize = 80;

/// Rows that a question takes besides its answers.
const AROUND_ANSWERS_ROWS: usize = 3;

/// The person at the terminal.
#[derive(Debug)]
pub(crate) struct PersonConfirms {
    talk: Arc<Talk>,
}

impl PersonConfirms {
    /// Whoever is talked to there.
    pub(crate) const fn new(talk: Arc<Talk>) -> Self {
        Self { talk }
    }
}

impl Confirmer for PersonConfirms {
    fn confirm(&self, question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        let talk = self.talk.clone();
        // A person takes their time; everything else goes on meanwhile.
        let (asker, waiting) = Asker::new();
        let asking = tokio::task::spawn_blocking(move || {
            let choices = choices(&question);
            let asked = || AskedQuestion::new(&question, &choices, Look { columns: columns(), paint: talk.paint() });
            let picked = ask(&talk, &asker, asked);
            (!picked.is_over).then(|| meaning(&choices, picked))
        });
        Box::pin(async move {
            let answer = asking.await.unwrap_or(Some(Confirmation::Refuse { reason: None }));
            drop(waiting); // Also when this is dropped before the person has answered.
            match answer {
                Some(answer) => answer,
                // Whoever stops everything has not said no to this call: it ends with the rest.
                None => std::future::pending().await,
            }
        })
    }
}

/// Somebody who said yes beforehand, to this and nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswersYes;

impl Confirmer for AnswersYes {
    fn confirm(&self, _question: ConfirmationRequest) -> BoxFuture<'_, Confirmation> {
        Box::pin(async { Confirmation::Proceed(Remember::No) })
    }
}

/// A question before a call, ready to be shown, here or elsewhere.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AskedQuestion {
    /// All that is to be known before it is answered.
    lines: Vec<String>,
    /// The answers there are.
    answers: Vec<String>,
    /// The answer for which a reason is asked.
    wants_reason: Option<usize>,
}

impl AskedQuestion {
    /// The question in words, with these answers.
    pub(crate) fn new(question: &ConfirmationRequest, choices: &[Choice], look: Look) -> Self {
        Self {
            lines: question_lines(Question::from(question), look),
            answers: choices.iter().map(|choice| choice.words.clone()).collect(),
            wants_reason: choices.iter().position(|choice| choice.answer == Answer::NoBecause),
        }
    }
}

/// What the person picked.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Picked {
    /// Which of the answers; none when they left the question.
    answer: Option<usize>,
    /// Why not.
    reason: Option<String>,
    /// They want everything to end that runs, not only this call.
    #[serde(default)]
    is_over: bool,
}

/// Asks. Blocks until the person has decided; a question nobody waits for any more is not asked.
pub(crate) fn ask(talk: &Talk, asker: &Asker, question: impl FnOnce() -> AskedQuestion) -> Picked {
    let answer = talk.asking(asker, || {
        asker.forget_until_shown();
        let AskedQuestion { lines, answers, wants_reason } = question();
        announce(&lines);
        if let Some(again) = repeated(&lines, answers.len()) {
            announce(&[again]);
        }
        let mut picked = pick(Prompt { asker, paint: talk.paint() }, answers, wants_reason);
        picked.is_over = picked.is_over && talk.stop();
        if asker.is_gone() && !asker.is_left() {
            announce(&["(nobody waits for this answer any more: the call was given up)".to_owned()]);
        }
        picked
    });
    answer.unwrap_or_default()
}

fn pick(prompt: Prompt<'_>, answers: Vec<String>, wants_reason: Option<usize>) -> Picked {
    let help = "↑↓ to move or type `n` for no, Enter to choose, Esc is a no, Ctrl-C ends what runs";
    let asked = List::new("Make this call?", answers).whole().filtered(begins_so).help(Some(help));
    let picked = prompt.pick(asked);
    let is_over = picked == Err(Left::Out);
    let answer = picked.ok();
    let reason = if answer.is_some() && answer == wants_reason { reason(prompt) } else { None };
    Picked { answer, reason, is_over }
}

/// What was picked, in terms of the call. Whatever is not one of the answers is a no.
pub(crate) fn meaning(choices: &[Choice], Picked { answer, reason, .. }: Picked) -> Confirmation {
    match answer.and_then(|answer| choices.get(answer)).map(|choice| choice.answer) {
        Some(Answer::Yes(remember)) => Confirmation::Proceed(remember),
        Some(Answer::NoBecause) => Confirmation::Refuse { reason },
        Some(Answer::No) | None => Confirmation::Refuse { reason: None },
    }
}

/// Whoever types `n` or `no` means the answers that begin so, and nothing that only contains it.
fn begins_so(typed: &str, words: &str) -> bool {
    words.to_lowercase().starts_with(&typed.trim().to_lowercase())
}

/// Why not, for whoever asked.
fn reason(prompt: Prompt<'_>) -> Option<String> {
    let typed = prompt.line(Typed::new("Why not?").help(Some("whoever asked is told this"))).ok()?;
    let typed: String = typed.trim().chars().take(REFUSAL_CHARS_MAX).collect();
    (!typed.is_empty()).then_some(typed)
}

/// What can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes(Remember),
    No,
    NoBecause,
}

/// One of the answers, in words.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    answer: Answer,
    words: String,
}

/// The answers to a question.
pub(crate) fn choices(question: &ConfirmationRequest) -> Vec<Choice> {
    let id = &question.tool.id;
    choices_about((&id.server, &id.tool), &question.choices, question.asked_by)
}

/// The answers there are: once, what may be remembered, and no.
fn choices_about((server, tool): (&str, &str), offered: &[Remember], asked_by: CallAsker) -> Vec<Choice> {
    let (server, tool) = (short(server, CHOICE_NAME_CHARS_MAX), short(tool, CHOICE_NAME_CHARS_MAX));
    let words = |remember| match remember {
        Remember::No => "Yes, this once".to_owned(),
        // What is allowed is the tool, whoever calls it.
        Remember::ToolThisSession if asked_by == CallAsker::SlashCommand => {
            format!("Yes, and {tool} for the rest of this session, also for the model")
        }
        Remember::ToolThisSession => format!("Yes, and {tool} for the rest of this session"),
        Remember::ToolAlways => format!("Yes, and always {tool} of {server}"),
        Remember::ServerThisSession if asked_by == CallAsker::SlashCommand => {
            format!("Yes, and every tool that {server} has now for the rest of this session, also for the model")
        }
        Remember::ServerThisSession => {
            format!("Yes, and every tool that {server} has now for the rest of this session")
        }
        Remember::ServerAlways => format!("Yes, and always every tool that {server} has now"),
        Remember::TheseArgumentsAlways => "Yes, and always with exactly these arguments".to_owned(),
    };
    let yes = |remember: Remember| Choice { answer: Answer::Yes(remember), words: words(remember) };
    let remembered = offered.iter().copied().filter(|remember| *remember != Remember::No);
    let mut choices: Vec<Choice> = std::iter::once(Remember::No).chain(remembered).map(yes).collect();
    choices.push(Choice { answer: Answer::No, words: "No".to_owned() });
    choices.push(Choice { answer: Answer::NoBecause, words: "No, and say why".to_owned() });
    choices
}

/// Looked at for every question: a window can be made wider.
fn columns() -> usize {
    measured_columns().unwrap_or(COLUMNS)
}

/// How wide the terminal is on which questions are asked, when it says.
pub(crate) fn measured_columns() -> Option<usize> {
    let size = tcgetwinsize(std::io::stderr()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// What is called once more, where the terminal has no room for everything above the answers. What has scrolled away is still there to be looked at.
fn repeated(lines: &[String], answers: usize) -> Option<String> {
    let size = tcgetwinsize(std::io::stderr()).ok().filter(|size| size.ws_row > 0)?;
    let columns = usize::from(size.ws_col).max(1);
    let taken: usize = lines.iter().map(|line| width(line).div_ceil(columns).max(1)).sum();
    let room = usize::from(size.ws_row).saturating_sub(answers + AROUND_ANSWERS_ROWS);
    let first = lines.first().filter(|_| taken > room)?;
    Some(format!("(more stands above than fits here) {first}"))
}

fn announce(lines: &[String]) {
    // Without a terminal to show it on, the question that follows fails too.
    let _said = writeln!(std::io::stderr().lock(), "{}", lines.join("\n")).is_ok();
}

#[cfg(test)]
mod tests {
    use toolgate::grants::Remember;

    use super::{Answer, CallAsker, Picked, begins_so, choices_about, meaning};
    use crate::question::Asker;
    use crate::talk::Talk;
    use crate::terminal::Terminal;
    use toolgate::call::Confirmation;

    #[test]
    fn only_what_is_offered_can_be_answered_and_no_always() {
        let (once, no) = ("Yes, this once", ["No", "No, and say why"]);
        let all = [
            Remember::ToolThisSession,
            Remember::ToolAlways,
            Remember::ServerThisSession,
            Remember::ServerAlways,
            Remember::TheseArgumentsAlways,
        ];
        let words = |offered: &[Remember]| -> Vec<String> {
            choices_about(("s\u{1b}", &"t".repeat(40)), offered, CallAsker::Cli)
                .into_iter()
                .map(|choice| choice.words)
                .collect()
        };
        assert_eq!(words(&[]), [once, no[0], no[1]]);
        assert_eq!(words(&[Remember::No]), [once, no[0], no[1]]);
        let tool = format!("{}…", "t".repeat(30));
        let expected = [
            once,
            &format!("Yes, and {tool} for the rest of this session"),
            &format!("Yes, and always {tool} of s\\e"),
            "Yes, and every tool that s\\e has now for the rest of this session",
            "Yes, and always every tool that s\\e has now",
            "Yes, and always with exactly these arguments",
            no[0],
            no[1],
        ];
        assert_eq!(words(&all), expected);
        assert_eq!(choices_about(("s", "t"), &[], CallAsker::Cli)[0].answer, Answer::Yes(Remember::No));
    }

    #[test]
    fn what_is_typed_is_how_an_answer_begins() {
        let all = choices_about(("s", "t"), &[Remember::ToolThisSession], CallAsker::SlashCommand);
        let meant = |typed: &str| -> Vec<String> {
            all.iter().map(|one| one.words.clone()).filter(|words| begins_so(typed, words)).collect()
        };
        assert_eq!(meant("").len(), all.len());
        assert_eq!(meant("n"), ["No", "No, and say why"]);
        assert_eq!(meant("No"), ["No", "No, and say why"]);
        assert_eq!(meant("y"), ["Yes, this once", "Yes, and t for the rest of this session, also for the model"]);
        assert_eq!(meant("x"), Vec::<String>::new());
    }

    #[test]
    fn whatever_is_not_one_of_the_answers_is_a_no() {
        let all = choices_about(("s", "t"), &[], CallAsker::Cli);
        let no = |reason: Option<&str>| Confirmation::Refuse { reason: reason.map(ToOwned::to_owned) };
        let cases = [
            (Some(0), None, Confirmation::Proceed(Remember::No)),
            (Some(1), Some("x"), no(None)),
            (Some(2), Some("x"), no(Some("x"))),
            (Some(3), None, no(None)),
            (None, Some("x"), no(None)),
        ];
        for (answer, reason, expected) in cases {
            let picked = Picked { answer, reason: reason.map(ToOwned::to_owned), is_over: false };
            assert_eq!(meaning(&all, picked), expected, "{answer:?}");
        }
    }

    #[test]
    fn questions_stand_one_at_a_time_and_one_that_was_given_up_is_not_asked() {
        let talk = Talk::new(&Terminal::default());
        let asked = std::sync::Mutex::new(Vec::new());
        let ((first, _waiting), (second, given_up)) = (Asker::new(), Asker::new());
        std::thread::scope(|scope| {
            let answer = talk.asking(&first, || {
                let queued = scope.spawn(|| talk.asking(&second, || asked.lock().unwrap().push("second")));
                // The call is cancelled while its question waits for its turn.
                drop(given_up);
                asked.lock().unwrap().push("first");
                queued
            });
            assert_eq!(answer.unwrap().join().unwrap(), None);
        });
        assert_eq!(*asked.lock().unwrap(), ["first"]);
    }
}
