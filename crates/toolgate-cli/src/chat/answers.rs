//! What the model says, as it says it: text streams in, calls are shown while they run, and what went wrong is told.

use std::io::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate::CallOutcome;
use toolgate::shape::visible;
use toolgate_model::declare::Quarantined;
use toolgate_model::{CallEnding, CallNews, Conversation, Input, TurnEnd, TurnEvent};

use super::markdown::Markdown;
use super::{Chat, LastingHost};
use crate::arrival::few;
use crate::columns::short;
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::limits::{CALL_SHOWN_CHARS_MAX, LIKE_LINES_MAX, PROGRESS_CHARS_MAX};
use crate::talk::Talk;
use crate::terminal::Terminal;

impl Chat<'_> {
    /// Has the model answer, and shows how.
    pub(super) fn answer(&mut self, conversation: &mut Conversation, input: Input) -> Result<Ending> {
        let terminal = *self.session.for_line(crate::args::Options::default()).printer.terminal();
        let shown = Shown::new(self.session.printer.talk().clone(), &terminal);
        let host: Arc<LastingHost> = self.host.clone();
        // While none of its calls runs, no server has anything to ask.
        shown.talk.give_up_question();
        let hears = |event| shown.hear(event);
        let interrupts = host.interrupts();
        let turn = conversation.turn(host.host(), input, &hears, interrupts.next());
        let report = tokio::runtime::Handle::current().block_on(turn);
        shown.end();
        self.standing.set_tokens(conversation.usage().total());
        self.tell_of_undeclared(conversation);
        match report.end {
            TurnEnd::Done => Ok(Ending::Done),
            TurnEnd::CutShort(why) => {
                self.session.printer.talk().line(&format!("(the answer ends here: {})", visible::line(&why)));
                Ok(Ending::Done)
            }
            TurnEnd::Cancelled => Err(CommandError::interrupted().saying("the answer was given up".to_owned())),
            TurnEnd::TurnLimit(turns) => {
                let what = format!("the model was asked {turns} times and is not done");
                Err(CommandError::new(Ending::Model, "turn_limit", what).hint("say `go on`, or raise `model.maxTurns`"))
            }
            TurnEnd::Failed(error) => Err(CommandError::from(&error)),
        }
    }

    /// A tool that the provider cannot be told about is missed by the model alone; it is said once, and stands in `/mcp`.
    fn tell_of_undeclared(&self, conversation: &Conversation) {
        let line = |one: &Quarantined| {
            visible::line(&format!("tool {} is not offered to the model: {}", one.tool, one.reason)).into_owned()
        };
        let new = self.host.note_undeclared(conversation.quarantined().iter().map(line).collect());
        let talk = self.session.printer.talk();
        new.iter().take(LIKE_LINES_MAX).for_each(|line| talk.line(line));
        if new.len() > LIKE_LINES_MAX {
            talk.line(&format!(
                "{} more tools are not offered to the model; /mcp names them",
                new.len() - LIKE_LINES_MAX
            ));
        }
    }
}

/// Where an answer is shown.
struct Shown {
    talk: Arc<Talk>,
    is_terminal: bool,
    page: Mutex<Page>,
}

/// What stands there already.
struct Page {
    markdown: Markdown,
    /// Whether the last line is not at its end.
    is_open: bool,
    /// The calls that run.
    running: Vec<Arc<CallNews>>,
}

impl Shown {
    fn new(talk: Arc<Talk>, terminal: &Terminal) -> Self {
        let page = Page { markdown: Markdown::new(terminal.paint_results()), is_open: false, running: Vec::new() };
        Self { talk, is_terminal: terminal.stdout, page: Mutex::new(page) }
    }

    fn page(&self) -> MutexGuard<'_, Page> {
        self.page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, event: TurnEvent) {
        match event {
            TurnEvent::Asked { .. } => self.talk.waits("the model answers"),
            TurnEvent::Thinking(piece) => {
                let piece = visible::line(piece.trim()).into_owned();
                if !piece.is_empty() {
                    self.talk.waits_with(&format!("thinking: {}", short(&piece, PROGRESS_CHARS_MAX)), None);
                }
            }
            TurnEvent::Text(piece) => self.write(&piece),
            TurnEvent::Answered { .. } => self.end(),
            TurnEvent::Retry { attempt, wait, error, discards } => {
                self.end();
                let gone = if discards { "; what was shown of the answer does not count" } else { "" };
                let line = format!("attempt {attempt} failed: {error}; again in {} s{gone}", wait.as_secs().max(1));
                self.talk.line(&visible::line(&line));
            }
            TurnEvent::CallAsked(call) => {
                self.end();
                self.say_call(&call);
            }
            TurnEvent::CallStarted(call) => {
                self.page().running.push(call);
                self.talk.asks_again();
                self.say_running();
            }
            TurnEvent::CallEnded(call, ending) => {
                let is_last = {
                    let mut page = self.page();
                    page.running.retain(|one| one.id != call.id);
                    page.running.is_empty()
                };
                if is_last {
                    self.talk.give_up_question();
                }
                self.say_ending(&call, &ending);
                self.say_running();
            }
        }
    }

    /// A piece of the answer.
    fn write(&self, piece: &str) {
        self.talk.waits_no_more();
        let mut page = self.page();
        // Where somebody else reads it, it stays as it is.
        let text = if self.is_terminal { visible::text(piece) } else { piece.into() };
        let shown = page.markdown.push(&text);
        page.is_open = !text.ends_with('\n');
        put(&shown);
    }

    /// The end of an answer, or of what is shown at all.
    fn end(&self) {
        self.talk.waits_no_more();
        let mut page = self.page();
        let rest = page.markdown.finish();
        put(&rest);
        if std::mem::take(&mut page.is_open) {
            put("\n");
        }
    }

    fn say_call(&self, call: &CallNews) {
        if self.talk.is_terminal() {
            let about = short(&call.explanation(), CALL_SHOWN_CHARS_MAX);
            self.talk.line(&format!("⚙ {} {}", visible::line(&call.name), self.talk.paint().dim(about)));
        }
    }

    /// Whose results are waited for, until a server says how far one of them is.
    fn say_running(&self) {
        let page = self.page();
        let titles: Vec<&str> = page.running.iter().map(|call| call.title()).collect();
        if !titles.is_empty() {
            self.talk.waits(&few(&titles));
        }
    }

    fn say_ending(&self, call: &CallNews, ending: &CallEnding) {
        self.talk.waits_no_more();
        if !self.talk.is_terminal() {
            return;
        }
        let (name, paint) = (visible::line(&call.name).into_owned(), self.talk.paint());
        let took = paint.dim(format!("({}, {} ms)", ending.word.replace('_', " "), ending.took.as_millis()));
        if ending.is_error {
            let told = short(&why_not(ending), CALL_SHOWN_CHARS_MAX);
            self.talk.line(&format!("{} {name} {took}: {told}", paint.red('✗')));
        } else {
            self.talk.line(&format!("{} {name} {took}", paint.green('✓')));
        }
    }
}

/// Why a call gave nothing, in one line. What the model is told is marked for it.
fn why_not(ending: &CallEnding) -> String {
    let text = match ending.outcome.as_deref() {
        Some(CallOutcome::Failed(error) | CallOutcome::Unknown(error)) => error.to_string(),
        Some(CallOutcome::ToolError(report)) => report.for_display(),
        _ => ending.told.clone(),
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Nobody to read it is no reason to stop.
fn put(text: &str) {
    if !text.is_empty() {
        let mut stdout = std::io::stdout().lock();
        let _written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).is_ok();
    }
}
