//! What the library has to say and no answer has a place for, on the terminal: an answer that could not be kept, a record that was lost.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use toolgate::shape::visible;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::talk::Talk;

/// Shows warnings from now on.
pub(crate) fn shown_on(talk: &Arc<Talk>) {
    // Whoever was first keeps it; nobody else is there in this program.
    let _is_first = tracing::subscriber::set_global_default(Warnings { talk: talk.clone() }).is_ok();
}

/// Shows warnings of one piece of work, wherever all others are shown.
pub(crate) fn of_work<T>(talk: &Arc<Talk>, work: impl FnOnce() -> T) -> T {
    tracing::subscriber::with_default(Warnings { talk: talk.clone() }, work)
}

struct Warnings {
    talk: Arc<Talk>,
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("toolgate") && metadata.is_event()
    }

    fn event(&self, event: &Event<'_>) {
        let mut words = Words(String::new());
        event.record(&mut words);
        self.talk.line(&format!("warning: {}", visible::line(&words.0)));
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// An event in words: its message, and what else it has.
struct Words(String);

impl Visit for Words {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let is_message = field.name() == "message";
        let between = if self.0.is_empty() { "" } else { ", " };
        // Writing to a text does not fail.
        let _written = match is_message {
            true => write!(self.0, "{between}{value:?}"),
            false => write!(self.0, "{between}{} {value:?}", field.name()),
        };
    }
}
