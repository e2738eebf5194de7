//! `--debug`: every frame to and from every server as a line on stderr.

use std::sync::Arc;

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
        talk.line(&format!("{} {}", talk.paint().dim(who), visible::line(frame.trim_end())));
    })
}
