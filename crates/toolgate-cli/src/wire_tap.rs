//! `--debug` and `--log-file`: every frame to and from every server, with secrets covered, as a line on stderr or in the log file alone.

use std::sync::Arc;

use toolgate::audit::covered_text;
use toolgate::connect::WireTap;
use toolgate::shape::visible;
use toolgate::wire::Direction;

use crate::talk::Talk;

/// Destination of the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// On stderr, and in the log file when there is one.
    OnStderr,
    /// In the log file.
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
