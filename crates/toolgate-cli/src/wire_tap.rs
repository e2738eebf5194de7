//! `--debug`: every frame to and from every server as a line on stderr, with secrets covered.

use std::sync::Arc;

use toolgate::audit::covered_text;
use toolgate::connect::WireTap;
use toolgate::shape::visible;
use toolgate::wire::Direction;

use crate::talk::Talk;

/// Shows the wire.
pub(crate) fn shown_on(talk: &Arc<Talk>) -> WireTap {
    let talk = talk.clone();
    Arc::new(move |server, direction, frame| {
        let arrow = match direction {
            Direction::Sent => '→',
            Direction::Received => '←',
        };
        let frame = String::from_utf8_lossy(frame);
        let who = format!("{} {arrow}", visible::line(server));
        let frame = covered_text(frame.trim_end());
        talk.line(&format!("{} {}", talk.paint().dim(who), visible::line(&frame)));
    })
}
