//! `SendMark`: whether a request can have left this process. It is what a caller asks before it repeats a call that failed.
//!
//! A request has one [`Departure`], in which the one who writes it and the one who gives it up agree: either it begins to leave, and its
//! marks are set before the first byte can be gone; or it is withdrawn, and no byte of it leaves any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::peer::lock;

/// Whether a request can have left this process. Once set it stays set, however often the request is sent again.
#[derive(Clone, Default, Debug)]
pub struct SendMark(Arc<AtomicBool>);

impl SendMark {
    /// Whether a byte of the request can have left. When the call has ended without it, the other side has not seen the request and
    /// never will.
    pub fn is_sent(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Release);
    }
}

/// The one moment at which what is sent begins to leave, or is withdrawn.
#[derive(Debug)]
pub(crate) struct Departure {
    marks: Vec<SendMark>,
    fate: Mutex<Fate>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Waiting,
    Left,
    Withdrawn,
}

impl Departure {
    /// The departure of requests with these marks; without marks nobody asks.
    pub(crate) fn of(marks: Vec<SendMark>) -> Option<Arc<Self>> {
        (!marks.is_empty()).then(|| Arc::new(Self { marks, fate: Mutex::new(Fate::Waiting) }))
    }

    /// The first byte is about to leave. `false` when it must not.
    pub(crate) fn begin(&self) -> bool {
        let mut fate = lock(&self.fate);
        if *fate == Fate::Waiting {
            *fate = Fate::Left;
            // Within the lock: whoever comes too late to withdraw finds them set.
            self.marks.iter().for_each(SendMark::set);
        }
        *fate == Fate::Left
    }

    /// Nobody waits for it any more. `true` when nothing of it has left, and so nothing will.
    pub(crate) fn withdraw(&self) -> bool {
        let mut fate = lock(&self.fate);
        if *fate == Fate::Waiting {
            *fate = Fate::Withdrawn;
        }
        *fate == Fate::Withdrawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_left_cannot_be_withdrawn_and_what_is_withdrawn_cannot_leave() {
        let mark = SendMark::default();
        let departure = Departure::of(vec![mark.clone()]).unwrap();
        assert!(!mark.is_sent());
        assert!(departure.begin() && departure.begin(), "it may be written in several attempts");
        assert!(mark.is_sent() && !departure.withdraw());

        let mark = SendMark::default();
        let departure = Departure::of(vec![mark.clone()]).unwrap();
        assert!(departure.withdraw() && departure.withdraw());
        assert!(!departure.begin() && !mark.is_sent());

        assert!(Departure::of(Vec::new()).is_none());
    }
}
