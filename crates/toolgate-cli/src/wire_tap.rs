//! `--debug` and `--log-file`: prints every frame to and from every server, with secrets masked.

use std::sync::Arc;

use toolgate::audit::covered_text;
use toolgate::connect::WireTap;
use toolgate::shape::visible;
use toolgate::wire::Direction;

use crate::talk::Talk;

/// Destination of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Stderr, and the log file if there is one.
    OnStderr,
    /// The log file only.
    InLog,
}

/// Shows the wire.
pub(crate) fn shown_on(talk: &Arc<Talk>, shown: Shown) -> WireTap {
    let talk = talk.clone();
    Arc::new(move |server, direction, frame| {
        let arrow = match direction {
            Direction::Sent => '→',
            Direction::Received => '←',
        };
        let frame = String::from_utf8_lossy(frame);
        let who = format!("{} {arrow}", visible::line(server));
        let line = format!("{} {}", talk.paint().dim(who), visible::line(&covered_text(frame.trim_end())));
        match shown {
            Shown::OnStderr => talk.line(&line),
            Shown::InLog => talk.log(&line),
        }
    })
}
