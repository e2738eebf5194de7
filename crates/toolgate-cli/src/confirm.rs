//! Asks the person at the terminal before a call is made. They see what is called with what, and who wants it; leaving the question is a no.

mod argument_text;
mod bounded_text;
mod change_text;
mod question_text;

use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use inquire::{Select, Text};
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use toolgate::call::{Confirmation, ConfirmationRequest, Confirmer};
use toolgate::grants::Remember;

use crate::columns::short;
use crate::limits::{CHOICE_NAME_CHARS_MAX, REFUSAL_CHARS_MAX};
use crate::question::Asker;
use crate::talk::Talk;

use question_text::{Look, Question, question_lines};

/// How wide a terminal is that does not say.
const COLUMNS: usize = 80;

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
        let asking = tokio::task::spawn_blocking(move || ask(&talk, &asker, &question));
        Box::pin(async move {
            let answer = asking.await.unwrap_or(Confirmation::Refuse { reason: None });
            drop(waiting); // Also when this is dropped before the person has answered.
            answer
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

/// Asks. Blocks until the person has decided; a question nobody waits for any more is not asked.
fn ask(talk: &Talk, asker: &Asker, question: &ConfirmationRequest) -> Confirmation {
    let answer = talk.asking(asker, || {
        // What was typed before the question was there is no answer to it.
        let _forgotten = tcflush(std::io::stdin(), QueueSelector::IFlush).is_ok();
        let look = Look { columns: columns(), paint: talk.paint() };
        announce(&question_lines(Question::from(question), look));
        let id = &question.tool.id;
        let answer = choose(choices(&id.server, &id.tool, &question.choices));
        if asker.is_gone() {
            announce(&["(nobody waits for this answer any more: the call was given up)".to_owned()]);
        }
        answer
    });
    answer.unwrap_or(Confirmation::Refuse { reason: None })
}

fn choose(choices: Vec<Choice>) -> Confirmation {
    let count = choices.len();
    let asked = Select::new("Make this call?", choices).with_page_size(count).with_scorer(&begins_so);
    match asked.with_help_message("↑↓ to move or type `n` for no, enter to select, escape is a no").prompt() {
        Ok(Choice { answer: Answer::Yes(remember), .. }) => Confirmation::Proceed(remember),
        Ok(Choice { answer: Answer::NoBecause, .. }) => Confirmation::Refuse { reason: reason() },
        Ok(Choice { answer: Answer::No, .. }) | Err(_) => Confirmation::Refuse { reason: None },
    }
}

/// Whoever types `n` or `no` means the answers that begin so, and nothing that only contains it.
fn begins_so(typed: &str, _choice: &Choice, words: &str, place: usize) -> Option<i64> {
    let typed = typed.trim().to_lowercase();
    let rank = i64::try_from(place).unwrap_or(i64::MAX);
    words.to_lowercase().starts_with(&typed).then_some(-rank)
}

/// Why not, for whoever asked.
fn reason() -> Option<String> {
    let typed = Text::new("Why not?").with_help_message("whoever asked is told this").prompt().ok()?;
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
struct Choice {
    answer: Answer,
    words: String,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// The answers there are: once, what may be remembered, and no.
fn choices(server: &str, tool: &str, offered: &[Remember]) -> Vec<Choice> {
    let (server, tool) = (short(server, CHOICE_NAME_CHARS_MAX), short(tool, CHOICE_NAME_CHARS_MAX));
    let words = |remember| match remember {
        Remember::No => "Yes, this once".to_owned(),
        Remember::ToolThisSession => format!("Yes, and {tool} for the rest of this session"),
        Remember::ToolAlways => format!("Yes, and always {tool} of {server}"),
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
    let size = tcgetwinsize(std::io::stderr()).ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}

fn announce(lines: &[String]) {
    // Without a terminal to show it on, the question that follows fails too.
    let _said = writeln!(std::io::stderr().lock(), "{}", lines.join("\n")).is_ok();
}

#[cfg(test)]
mod tests {
    use toolgate::grants::Remember;

    use super::{Answer, begins_so, choices};
    use crate::question::Asker;
    use crate::talk::Talk;
    use crate::terminal::Terminal;

    #[test]
    fn only_what_is_offered_can_be_answered_and_no_always() {
        let (once, no) = ("Yes, this once", ["No", "No, and say why"]);
        let all =
            [Remember::ToolThisSession, Remember::ToolAlways, Remember::ServerAlways, Remember::TheseArgumentsAlways];
        let words = |offered: &[Remember]| -> Vec<String> {
            choices("s\u{1b}", &"t".repeat(40), offered).iter().map(ToString::to_string).collect()
        };
        assert_eq!(words(&[]), [once, no[0], no[1]]);
        assert_eq!(words(&[Remember::No]), [once, no[0], no[1]]);
        let tool = format!("{}…", "t".repeat(30));
        let expected = [
            once,
            &format!("Yes, and {tool} for the rest of this session"),
            &format!("Yes, and always {tool} of s\\e"),
            "Yes, and always every tool that s\\e has now",
            "Yes, and always with exactly these arguments",
            no[0],
            no[1],
        ];
        assert_eq!(words(&all), expected);
        assert_eq!(choices("s", "t", &[])[0].answer, Answer::Yes(Remember::No));
    }

    #[test]
    fn what_is_typed_is_how_an_answer_begins() {
        let all = choices("s", "t", &[Remember::ToolThisSession]);
        let meant = |typed: &str| -> Vec<String> {
            let mut found: Vec<_> = all.iter().enumerate().collect();
            found.retain(|(place, one)| begins_so(typed, one, &one.words, *place).is_some());
            found.sort_by_key(|(place, one)| std::cmp::Reverse(begins_so(typed, one, &one.words, *place)));
            found.into_iter().map(|(_, one)| one.words.clone()).collect()
        };
        assert_eq!(meant("").len(), all.len());
        assert_eq!(meant("n"), ["No", "No, and say why"]);
        assert_eq!(meant("No"), ["No", "No, and say why"]);
        assert_eq!(meant("y"), ["Yes, this once", "Yes, and t for the rest of this session"]);
        assert_eq!(meant("x"), Vec::<String>::new());
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
