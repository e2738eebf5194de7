//! The terminal as a front end of the host: what servers may ask of the person at it, and what they tell them.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolgate::ServerName;
use toolgate::connect::{Abilities, CallProgress, Elicitation, ElicitationAnswer, FrontEnd, ServerLog};
use toolgate::shape::visible;

use crate::ask;
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
    /// Whether they want to hear everything.
    pub(crate) wants_details: bool,
}

impl FrontEnd for Person {
    fn abilities(&self) -> Abilities {
        Abilities { forms: self.can_be_asked, urls: self.can_be_asked, sampling: false }
    }

    fn elicit(&self, server: ServerName, question: Elicitation) -> BoxFuture<'static, ElicitationAnswer> {
        let talk = self.talk.clone();
        // A person takes their time; everything else goes on meanwhile.
        let asking = tokio::task::spawn_blocking(move || ask::ask(&talk, &server, &question));
        Box::pin(async { asking.await.unwrap_or(ElicitationAnswer::Cancel) })
    }

    fn log(&self, server: &ServerName, entry: ServerLog) {
        let is_loud = LOUD.contains(&entry.level.as_str());
        let is_shown = self.wants_details || (is_loud && self.talk.is_terminal());
        if !is_shown {
            return;
        }
        // Most entries are a plain text.
        let words: String = entry.data.read().unwrap_or_else(|_| entry.data.to_string());
        let logger = entry.logger.map(|logger| format!(" {}", visible::line(&logger))).unwrap_or_default();
        let paint = self.talk.paint();
        let who = format!("{}{logger} {}:", visible::line(server), visible::line(&entry.level));
        self.talk.line(&format!("{} {}", paint.dim(who), visible::line(&words)));
    }

    fn progress(&self, news: &CallProgress) {
        let how_far = match news.percent() {
            Some(percent) => format!("{percent:.0} %"),
            None => news.done.to_string(),
        };
        let message = news.message.as_deref().map(|message| format!(", {message}")).unwrap_or_default();
        self.talk.waits(&format!("{} of {}: {how_far}{message}", news.tool, news.server));
    }
}
