//! The terminal as a front end of the host: what servers may ask of the person at it, and what they tell them.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use toolgate::ServerName;
use toolgate::auth::guide::LoginGuide;
use toolgate::connect::{Abilities, CallProgress, Elicitation, ElicitationAnswer, FrontEnd, ServerLog};
use toolgate::shape::visible;

use crate::ask;
use crate::columns::short;
use crate::limits::{LABEL_CHARS_MAX, LOG_ENTRY_CHARS_MAX, PROGRESS_CHARS_MAX};
use crate::login::TerminalGuide;
use crate::question::Asker;
use crate::talk::Talk;

/// Log levels that are worth a line even when nobody asked for details.
const LOUD: [&str; 4] = ["error", "critical", "alert", "emergency"];

/// The person at the terminal, if there is one.
#[derive(Debug)]
pub(crate) struct Person {
    /// Where they are talked to.
    pub(crate) talk: Arc<Talk>,
    /// Whether they can be asked something.
    pub(crate) can_be_asked: bool,
    /// Who leads them through logins, where that is wanted.
    pub(crate) login_guide: Option<Arc<TerminalGuide>>,
    /// Whether they want to hear everything.
    pub(crate) wants_details: bool,
}

impl FrontEnd for Person {
    fn abilities(&self) -> Abilities {
        Abilities { forms: self.can_be_asked, urls: self.can_be_asked, sampling: false }
    }

    fn elicit(&self, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        let talk = self.talk.clone();
        if !talk.may_ask(&server) {
            return Box::pin(async { ElicitationAnswer::Decline });
        }
        // A person takes their time; everything else goes on meanwhile.
        let (asker, waiting) = Asker::new();
        let asking = tokio::task::spawn_blocking(move || ask::ask(&talk, &asker, &server, &question));
        Box::pin(async move {
            let answer = asking.await.unwrap_or(ElicitationAnswer::Cancel);
            drop(waiting); // Also when this is dropped before the person has answered.
            answer
        })
    }

    fn login_guide(&self) -> Option<Arc<dyn LoginGuide>> {
        self.login_guide.clone().map(|guide| guide as Arc<dyn LoginGuide>)
    }

    fn log(&self, server: &ServerName, entry: ServerLog) {
        let is_loud = LOUD.contains(&entry.level.as_str());
        let is_shown = self.wants_details || (is_loud && self.talk.is_terminal());
        if !is_shown {
            return;
        }
        // Most entries are a plain text.
        let words: String = entry.data.read().unwrap_or_else(|_| entry.data.to_string());
        let logger = entry.logger.map(|logger| format!(" {}", short(&logger, LABEL_CHARS_MAX))).unwrap_or_default();
        let paint = self.talk.paint();
        let who = format!("{}{logger} {}:", visible::line(server), short(&entry.level, LABEL_CHARS_MAX));
        self.talk.line(&format!("{} {}", paint.dim(who), short(&words, LOG_ENTRY_CHARS_MAX)));
    }

    fn still_starting(&self, server: &ServerName, line: &str, limit: Duration) {
        let (name, line) = (visible::line(server), short(line, LOG_ENTRY_CHARS_MAX));
        let minutes = limit.as_secs() / 60;
        self.talk.line(&format!("{name} is still starting (waiting up to {minutes} min): {line}"));
    }

    fn progress(&self, news: &CallProgress) {
        let how_far = match news.percent() {
            Some(percent) => format!("{percent:.0} %"),
            None => news.done.to_string(),
        };
        let message = news
            .message
            .as_deref()
            .map(|message| format!(", {}", short(message, PROGRESS_CHARS_MAX)))
            .unwrap_or_default();
        let words = format!("{} of {}: {how_far}{message}", news.tool, news.server);
        self.talk.waits_with(&words, news.percent());
    }
}
