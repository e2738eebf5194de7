//! The cases of the host, as data: what toolgate does, what the floor does, what is compared, and how far apart they may be.

use crate::embedded::READY;
use crate::stand_in::{Answers, StandIn};
use crate::watch::{Awaited, Then};

/// Who takes part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Who {
    Floor,
    Toolgate,
    /// The same, at a terminal.
    AtTerminal,
    /// A process that embeds the library.
    Embedded,
}

/// The servers in the settings of one contestant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Servers {
    /// Servers that never answer; they stand first.
    pub(crate) hanging: usize,
    pub(crate) answering: usize,
    pub(crate) offer: StandIn,
    /// When they are connected to, as it is written in the settings; nothing is written when it is empty.
    pub(crate) start: &'static str,
}

/// What a run finds from those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Home {
    /// Nothing: every run has a home of its own.
    Fresh,
    /// What the first run left. It knows what the servers offer, so none may be started.
    Kept,
    /// The same, and the shared runtime of that home is up.
    WithRuntime,
}

/// One contestant of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contestant {
    pub(crate) who: Who,
    pub(crate) words: &'static [&'static str],
    /// Without servers there are no settings either.
    pub(crate) servers: Option<Servers>,
    pub(crate) home: Home,
    pub(crate) awaited: Awaited,
    pub(crate) then: Then,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Figure {
    /// Milliseconds until everything awaited was printed.
    Printed,
    /// Milliseconds until the process had ended.
    Ended,
    /// Megabytes resident at rest.
    Resident,
    /// The most megabytes resident.
    Peak,
    /// Milliseconds of CPU time while there was nothing to do.
    Cpu,
    /// How often it woke up while there was nothing to do.
    Switches,
}

/// How good the figure has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Goal {
    /// At most so many times the other contestant.
    Ratio(f64),
    /// At most so many megabytes.
    Megabytes(f64),
    /// None at all.
    Nothing,
    /// It is only told.
    Told,
}

/// One case: two contestants that take turns, and what is told of them.
#[derive(Debug)]
pub(crate) struct HostCase {
    pub(crate) name: &'static str,
    pub(crate) reference: Contestant,
    pub(crate) ours: Contestant,
    pub(crate) figures: &'static [(Figure, Goal)],
}

const ANSWERING: StandIn = StandIn { tools: 10, page: 0, answers: Answers::AtOnce, changes_every: 0 };
const LAST_TOOL: &str = "tool_9";
const MANY: usize = 100_000;

const fn servers(hanging: usize, answering: usize) -> Option<Servers> {
    Some(Servers { hanging, answering, offer: ANSWERING, start: "" })
}

const fn lazy(count: usize) -> Option<Servers> {
    Some(Servers { hanging: 0, answering: count, offer: ANSWERING, start: "lazy" })
}

const fn many(page: usize) -> Option<Servers> {
    Some(Servers { hanging: 0, answering: 1, offer: StandIn { tools: MANY, page, ..ANSWERING }, start: "" })
}

/// Prints the tools of every server that answers.
const fn listing(who: Who, servers: Option<Servers>, then: Then) -> Contestant {
    let times = match &servers {
        Some(servers) => servers.answering,
        None => 0,
    };
    Contestant { who, words: &["tools"], servers, home: Home::Fresh, awaited: Awaited { text: LAST_TOOL, times }, then }
}

/// The least that the program can do.
const VERSION: Contestant = Contestant {
    who: Who::Toolgate,
    words: &["--version"],
    servers: None,
    home: Home::Fresh,
    awaited: Awaited { text: "toolgate", times: 1 },
    then: Then::Ends,
};

/// Calls one tool.
const CALL: Contestant = Contestant {
    who: Who::Toolgate,
    words: &["call", "--yes", "echo", "message=hello"],
    servers: servers(0, 1),
    home: Home::Fresh,
    awaited: Awaited { text: "hello", times: 1 },
    then: Then::Ends,
};

/// Embeds the library, connects, and is left alone.
const fn embedded(servers: Option<Servers>, then: Then) -> Contestant {
    let awaited = Awaited { text: READY, times: 1 };
    Contestant { who: Who::Embedded, words: &["hold"], servers, home: Home::Fresh, awaited, then }
}

/// Lists what the settings say, the built-in server included, and starts nothing.
const fn written(servers: Option<Servers>, count: usize) -> Contestant {
    let awaited = Awaited { text: "\"status\"", times: count };
    Contestant {
        who: Who::Toolgate,
        words: &["mcp", "list", "--no-connect", "--json"],
        servers,
        home: Home::Fresh,
        awaited,
        then: Then::Ends,
    }
}

/// `toolgate tools` when nothing is known yet.
pub(crate) const fn discovery(name: &'static str, count: usize) -> HostCase {
    HostCase {
        name,
        reference: listing(Who::Floor, servers(0, count), Then::Ends),
        ours: listing(Who::Toolgate, servers(0, count), Then::Ends),
        figures: &[(Figure::Printed, Goal::Ratio(1.5)), (Figure::Ended, Goal::Told)],
    }
}

/// `toolgate tools` when everything is known already.
pub(crate) const fn kept(name: &'static str, count: usize) -> HostCase {
    let mut ours = listing(Who::Toolgate, servers(0, count), Then::Ends);
    ours.home = Home::Kept;
    HostCase {
        name,
        reference: VERSION,
        ours,
        figures: &[(Figure::Ended, Goal::Ratio(3.0)), (Figure::Printed, Goal::Told)],
    }
}

/// Connections that are held and used by nobody.
pub(crate) const fn idle(name: &'static str, count: usize) -> HostCase {
    HostCase {
        name,
        reference: listing(Who::Floor, servers(1, count), Then::IsLeftAlone { children: count + 1 }),
        ours: embedded(servers(0, count), Then::IsLeftAlone { children: count }),
        figures: &[
            (Figure::Resident, Goal::Megabytes(15.0)),
            (Figure::Cpu, Goal::Nothing),
            (Figure::Switches, Goal::Nothing),
        ],
    }
}

const fn every_tool(name: &'static str, page: usize) -> HostCase {
    const fn contestant(who: Who, page: usize) -> Contestant {
        let awaited = Awaited { text: "\"inputSchema\"", times: MANY };
        let (words, then) = (&["tools", "--json"], Then::EndsWatched);
        Contestant { who, words, servers: many(page), home: Home::Fresh, awaited, then }
    }
    HostCase {
        name,
        reference: contestant(Who::Floor, page),
        ours: contestant(Who::Toolgate, page),
        figures: &[(Figure::Printed, Goal::Told), (Figure::Ended, Goal::Told), (Figure::Peak, Goal::Told)],
    }
}

/// Every case, in the order in which they run.
pub(crate) const HOST_CASES: &[HostCase] = &[
    HostCase {
        name: "cold",
        reference: Contestant {
            who: Who::Floor,
            words: &["nothing"],
            servers: None,
            home: Home::Fresh,
            awaited: Awaited { text: "", times: 0 },
            then: Then::Ends,
        },
        ours: VERSION,
        figures: &[(Figure::Ended, Goal::Ratio(2.5))],
    },
    discovery("discover-1", 1),
    discovery("discover-10", 10),
    discovery("discover-50", 50),
    HostCase {
        name: "call",
        reference: Contestant {
            who: Who::Floor,
            words: &["call", "hello"],
            servers: servers(0, 1),
            home: Home::Fresh,
            awaited: Awaited { text: "hello", times: 1 },
            then: Then::Ends,
        },
        ours: CALL,
        figures: &[(Figure::Ended, Goal::Ratio(2.7)), (Figure::Printed, Goal::Told)],
    },
    kept("kept-1", 1),
    kept("kept-10", 10),
    kept("kept-50", 50),
    HostCase {
        name: "runtime-call",
        reference: VERSION,
        ours: Contestant { home: Home::WithRuntime, ..CALL },
        figures: &[(Figure::Ended, Goal::Ratio(2.0)), (Figure::Printed, Goal::Told)],
    },
    HostCase {
        name: "first-prompt",
        reference: VERSION,
        ours: Contestant {
            who: Who::AtTerminal,
            words: &[],
            servers: servers(50, 0),
            home: Home::Fresh,
            awaited: Awaited { text: "> ", times: 1 },
            then: Then::IsEnded,
        },
        figures: &[(Figure::Printed, Goal::Ratio(10.0))],
    },
    HostCase {
        name: "hanging-1-of-10",
        reference: listing(Who::Toolgate, servers(0, 9), Then::IsEnded),
        ours: listing(Who::Toolgate, servers(1, 9), Then::IsEnded),
        figures: &[(Figure::Printed, Goal::Ratio(1.3))],
    },
    HostCase {
        name: "memory-50",
        reference: listing(Who::Floor, servers(1, 50), Then::IsHeld { children: 51 }),
        ours: listing(Who::Toolgate, servers(1, 50), Then::IsHeld { children: 51 }),
        figures: &[(Figure::Resident, Goal::Megabytes(15.0)), (Figure::Peak, Goal::Told)],
    },
    idle("idle-50", 50),
    HostCase {
        name: "lazy-1000",
        reference: embedded(servers(0, 0), Then::IsHeld { children: 0 }),
        ours: embedded(lazy(1_000), Then::IsHeld { children: 0 }),
        figures: &[(Figure::Resident, Goal::Megabytes(60.0))],
    },
    HostCase {
        name: "settings-1000",
        reference: written(servers(0, 0), 1),
        ours: written(servers(0, 1_000), 1_001),
        figures: &[(Figure::Ended, Goal::Ratio(3.0))],
    },
    every_tool("tools-100k", 1_000),
    every_tool("tools-100k-one-page", 0),
];
