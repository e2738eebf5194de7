//! What can go wrong with one request, over pipes and over HTTP, and how likely each of it is.

use serde::{Deserialize, Serialize};

use super::dice::Dice;

/// Something that goes wrong with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChaosFault {
    /// The process ends, before or after executing.
    Exit,
    /// The process stops (SIGSTOP), before or after executing, and answers when somebody lets it go on.
    Stop,
    /// The answer has an id that nobody waits for.
    WrongId,
    /// The answer comes twice.
    Twice,
    /// The answer comes when nobody waits for it any more.
    Late,
    /// The answer comes byte by byte.
    Drip,
    /// Hundreds of notifications come before the answer.
    Flood,
    /// Something that is no JSON comes before the answer.
    Garbage,

    /// Stdout is closed, before or after executing, and the process lives on.
    CloseStdout,
    /// Half of the answer is written, and the process ends.
    HalfLine,
    /// A line of 100 MB comes before the answer.
    HugeLine,

    /// The connection is reset when the head of the request has arrived, and its body has not been read.
    ResetBeforeReading,
    /// The connection is reset when the request was read.
    ResetBeforeExecuting,
    /// The connection is reset when the request was executed.
    ResetBeforeHead,
    /// The answer ends within its head.
    CutHead,
    /// The answer ends within its body.
    CutBody,
    /// The answer is a stream of events that ends before the one that matters; some can be resumed.
    CutStream,
    /// The session is not known any more (404).
    SessionLost,
    /// The request is refused (500).
    ServerError,
    /// The request is executed, and refused all the same (400).
    BadRequest,
    /// The answer has the id of another call that waits, if there is one.
    IdOfAnother,
    /// The server starts anew at the same address, without its sessions and with other tools.
    OtherTools,
}

/// What happens over pipes, with its weight.
const STDIO: &[(ChaosFault, u64)] = &[
    (ChaosFault::Exit, 20),
    (ChaosFault::Stop, 10),
    (ChaosFault::WrongId, 10),
    (ChaosFault::Twice, 20),
    (ChaosFault::Late, 10),
    (ChaosFault::Drip, 20),
    (ChaosFault::Flood, 20),
    (ChaosFault::Garbage, 20),
    (ChaosFault::CloseStdout, 10),
    (ChaosFault::HalfLine, 10),
    // It takes a second of both sides.
    (ChaosFault::HugeLine, 2),
];

/// What happens over HTTP once a request was read, with its weight.
const HTTP: &[(ChaosFault, u64)] = &[
    (ChaosFault::Exit, 10),
    (ChaosFault::Stop, 5),
    (ChaosFault::WrongId, 10),
    (ChaosFault::Twice, 20),
    (ChaosFault::Late, 10),
    (ChaosFault::Drip, 20),
    (ChaosFault::Flood, 20),
    (ChaosFault::Garbage, 20),
    (ChaosFault::ResetBeforeReading, 20),
    (ChaosFault::ResetBeforeExecuting, 20),
    (ChaosFault::ResetBeforeHead, 20),
    (ChaosFault::CutHead, 20),
    (ChaosFault::CutBody, 20),
    (ChaosFault::CutStream, 20),
    (ChaosFault::SessionLost, 10),
    (ChaosFault::ServerError, 20),
    (ChaosFault::BadRequest, 20),
    (ChaosFault::IdOfAnother, 20),
    (ChaosFault::OtherTools, 5),
];

impl ChaosFault {
    /// Everything that happens over pipes.
    #[must_use]
    pub fn over_stdio() -> Vec<Self> {
        STDIO.iter().map(|(fault, _)| *fault).collect()
    }

    /// Everything that happens over HTTP.
    #[must_use]
    pub fn over_http() -> Vec<Self> {
        HTTP.iter().map(|(fault, _)| *fault).collect()
    }
}

/// How a server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Stdio,
    Http,
}

/// A fault, and whether the request is executed before it strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mishap {
    pub(super) fault: ChaosFault,
    pub(super) executes_first: bool,
}

impl Mishap {
    /// One of those that can happen, or one of `only`, if that names any.
    pub(super) fn roll(dice: &mut Dice, way: Way, only: &[ChaosFault]) -> Option<Self> {
        let table = match way {
            Way::Stdio => STDIO,
            Way::Http => HTTP,
        };
        let wanted = |fault: ChaosFault| only.is_empty() || only.contains(&fault);
        let possible: Vec<(ChaosFault, u64)> = table.iter().copied().filter(|(fault, _)| wanted(*fault)).collect();
        let mut rolled = dice.below(possible.iter().map(|(_, weight)| weight).sum());
        let found = possible.iter().find(|(_, weight)| {
            let hit = rolled < *weight;
            rolled = rolled.saturating_sub(*weight);
            hit
        });
        found.map(|&(fault, _)| Self::of(fault, dice))
    }

    pub(super) fn of(fault: ChaosFault, dice: &mut Dice) -> Self {
        Self { fault, executes_first: executes_first(fault, dice) }
    }
}

fn executes_first(fault: ChaosFault, dice: &mut Dice) -> bool {
    match fault {
        ChaosFault::Exit | ChaosFault::Stop | ChaosFault::CloseStdout => dice.happens(500),
        ChaosFault::ResetBeforeReading
        | ChaosFault::ResetBeforeExecuting
        | ChaosFault::SessionLost
        | ChaosFault::ServerError
        | ChaosFault::OtherTools => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{ChaosFault, HTTP, Mishap, STDIO, Way};
    use crate::chaos::Dice;

    #[test]
    fn everything_that_can_happen_happens_and_nothing_else() {
        for (way, table) in [(Way::Stdio, STDIO), (Way::Http, HTTP)] {
            let mut dice = Dice::new(3);
            let rolled: Vec<ChaosFault> =
                (0..5_000).filter_map(|_| Mishap::roll(&mut dice, way, &[])).map(|mishap| mishap.fault).collect();
            assert_eq!(rolled.len(), 5_000);
            assert!(table.iter().all(|(fault, _)| rolled.contains(fault)), "{way:?}");
            assert!(rolled.iter().all(|fault| table.iter().any(|(known, _)| known == fault)), "{way:?}");
        }
        let only = Mishap::roll(&mut Dice::new(3), Way::Http, &[ChaosFault::CutBody]).unwrap();
        assert_eq!(only, Mishap { fault: ChaosFault::CutBody, executes_first: true });
        assert_eq!(Mishap::roll(&mut Dice::new(3), Way::Http, &[ChaosFault::HugeLine]), None);
    }
}
