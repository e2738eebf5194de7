//! What stands beside the line that is typed: how many servers are ready, which model answers, what runs without a question.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolgate::Setup;
use toolgate::connect::{ServerStatus, ServerView};
use toolgate::policy::Mode;

use super::LastingHost;
use crate::columns::width;

/// How much of the line is left to what is typed; where that is longer, the status gives way.
const TYPED_COLUMNS: usize = 24;
const TYPED_COLUMNS_MIN: usize = 8;

/// Between two parts.
const GAP: &str = " · ";

/// How the session stands. Shared with whoever draws it.
#[derive(Debug)]
pub(crate) struct Standing {
    host: Arc<LastingHost>,
    mode: Mutex<Mode>,
    model: Mutex<Option<String>>,
    /// The models that are known by name.
    models: Mutex<Vec<String>>,
    tokens: AtomicU64,
}

impl Standing {
    /// At the beginning.
    pub(crate) fn new(host: Arc<LastingHost>, setup: &Setup) -> Self {
        let mode = Mutex::new(host.host().calls().mode());
        let model = Mutex::new(setup.settings.model().name);
        let models = Mutex::new(setup.settings.model_names());
        Self { host, mode, model, models, tokens: AtomicU64::new(0) }
    }

    /// The host of the session.
    pub(crate) const fn host(&self) -> &Arc<LastingHost> {
        &self.host
    }

    /// What runs without a question.
    pub(crate) fn mode(&self) -> Mode {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something else runs without a question from now on.
    pub(crate) fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
        self.host.host().set_mode(mode);
    }

    /// The model that answers.
    pub(crate) fn model(&self) -> Option<String> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another model answers from now on.
    pub(crate) fn set_model(&self, model: Option<String>) {
        let mut known = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let new = model.clone().filter(|name| !known.contains(name));
        known.extend(new);
        drop(known);
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// The models that the settings named when the session began, and those that were chosen since.
    pub(crate) fn models(&self) -> Vec<String> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// So many tokens were used by now.
    pub(crate) fn set_tokens(&self, tokens: u64) {
        self.tokens.store(tokens, Ordering::Relaxed);
    }

    /// Tokens that were used.
    pub(crate) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    /// How many servers are ready, and how many there are.
    pub(crate) fn servers(&self) -> (usize, usize) {
        let views = self.host.host().servers();
        (views.iter().filter(|view| is_ready(view)).count(), views.len())
    }

    /// The status in so many columns.
    pub(crate) fn text(&self, columns: usize) -> String {
        let (ready, total) = self.servers();
        let model = self.model();
        let parts = Parts { ready, total, model: model.as_deref(), mode: self.mode(), tokens: self.tokens() };
        parts.text(columns)
    }
}

/// Whether a server can be used: it is connected, or known well enough to be started when it is used, and has not failed to.
pub(crate) fn is_ready(view: &ServerView) -> bool {
    let is_resting = view.is_remembered && (view.error.is_none() || view.status == ServerStatus::Disconnected);
    view.is_settled && (view.status == ServerStatus::Connected || is_resting)
}

/// What the status is made of.
#[derive(Clone, Copy, Debug)]
struct Parts<'a> {
    ready: usize,
    total: usize,
    model: Option<&'a str>,
    mode: Mode,
    tokens: u64,
}

impl Parts<'_> {
    /// As much as there is room for beside what is typed. What runs without a question is the last thing to go but one.
    fn text(self, columns: usize) -> String {
        let Self { ready, total, model, mode, tokens } = self;
        let servers = if total == 1 { format!("{ready}/1 server") } else { format!("{ready}/{total} servers") };
        let model = model.unwrap_or("no model").to_owned();
        let tokens = if tokens == 0 { None } else { Some(count_text(tokens)) };
        let mode = mode.as_str().to_owned();
        let short = format!("{ready}/{total}");
        let with_tokens = |parts: &[&str]| parts.iter().copied().chain(tokens.as_deref()).collect::<Vec<_>>().join(GAP);
        let shorter = [
            (with_tokens(&[&servers, &model, &mode]), TYPED_COLUMNS),
            (with_tokens(&[&short, &model, &mode]), TYPED_COLUMNS),
            (with_tokens(&[&short, &mode]), TYPED_COLUMNS),
            ([&*short, &mode].join(GAP), TYPED_COLUMNS),
            (short, TYPED_COLUMNS_MIN),
        ];
        let fits = |(text, typed): &(String, usize)| width(text) + typed <= columns;
        shorter.into_iter().find(fits).map(|(text, _)| text).unwrap_or_default()
    }
}

/// `950 tokens`, `12.3k tokens`.
pub(crate) fn count_text(tokens: u64) -> String {
    match tokens {
        0..1000 => format!("{tokens} tokens"),
        _ => format!("{}.{}k tokens", tokens / 1000, tokens % 1000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use toolgate::policy::Mode;

    use super::{Parts, count_text};

    #[test]
    fn the_status_takes_the_room_there_is() {
        let parts = Parts { ready: 3, total: 4, model: None, mode: Mode::Default, tokens: 0 };
        let cases = [
            (parts, 80, "3/4 servers · no model · default"),
            (Parts { total: 1, ready: 0, ..parts }, 80, "0/1 server · no model · default"),
            (Parts { model: Some("m"), tokens: 1234, ..parts }, 80, "3/4 servers · m · default · 1.2k tokens"),
            (parts, 56, "3/4 servers · no model · default"),
            (parts, 50, "3/4 · no model · default"),
            (Parts { tokens: 7, ..parts }, 50, "3/4 · default · 7 tokens"),
            (Parts { tokens: 7, ..parts }, 40, "3/4 · default"),
            (parts, 36, "3/4"),
            (parts, 20, "3/4"),
            (parts, 4, ""),
        ];
        for (parts, columns, expected) in cases {
            assert_eq!(parts.text(columns), expected, "{columns} columns");
        }
        assert_eq!([0, 999, 1000, 12_345].map(count_text), ["0 tokens", "999 tokens", "1.0k tokens", "12.3k tokens"]);
    }
}
