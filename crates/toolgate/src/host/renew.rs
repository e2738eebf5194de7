//! Whether what is known of servers is still enough, in a host that lives long: judged when somebody wants to know what there is, and not by the
//! clock.

use super::Host;
use super::board::Board;
use super::start_plan::Life;
use crate::connect::Kind;
use crate::discovery::{Interest, Line, tells_of_changes};
use crate::kept::{Freshness, freshness};
use crate::server_name::ServerName;
use crate::settings::raw::StartMode;

impl Host {
    /// Has every server list anew what it offers; those that are not there are connected to.
    pub fn refresh(&self) {
        let lines = self.board.lines();
        lines.iter().filter(|line| self.shown.has(line.server())).for_each(Line::refresh);
    }

    /// Has those of these servers say anew what they offer of which that is too little or too old by now for somebody who is interested in this,
    /// or who would be started as something else now. Those that rest settle anew; one that is started only when it is used goes on resting.
    /// A host that lives for one question has judged all of that just now.
    pub fn renew(&self, interest: Interest, is_meant: impl Fn(&ServerName) -> bool) {
        if self.board.life == Life::Long {
            self.board.renew(interest, |server| self.shown.has(server) && is_meant(server));
        }
    }

    /// Whether everything of this interest that a server offers is known, from this run or an earlier one.
    pub fn knows(&self, server: &ServerName, interest: Interest) -> bool {
        let line = self.board.line(server).filter(|_| self.shown.has(server));
        line.and_then(|line| self.board.offer(&line)).is_some_and(|offer| offer.offered.has(interest))
    }
}

impl Board {
    fn renew(&self, interest: Interest, is_meant: impl Fn(&ServerName) -> bool) {
        let lines: Vec<Line> = self.lines().into_iter().filter(|line| is_meant(line.server())).collect();
        lines.iter().filter(|line| self.has_run_out(line, interest)).for_each(Line::refresh);
        let old: Vec<&ServerName> = lines.iter().filter(|line| self.is_old(line, interest)).map(Line::server).collect();
        let _some_are = !old.is_empty() && self.wake(|server| old.contains(&server));
    }

    /// Whether a server that is there may offer something else by now, and would not say so.
    fn has_run_out(&self, line: &Line, interest: Interest) -> bool {
        let Some(live) = line.now() else { return false };
        let silent = |kind| interest.wants(kind) && !tells_of_changes(&live.offered.capabilities, kind);
        let [tools, prompts, resources] = [Kind::Tools, Kind::Prompts, Kind::Resources].map(silent);
        let interest = Interest { tools, prompts, resources };
        freshness(&live.offered, interest, &line.config().transport, self.now()) != Freshness::Fresh
    }

    /// Whether a server that rests would be connected to if this host began now.
    fn is_old(&self, line: &Line, interest: Interest) -> bool {
        let (config, offer) = (line.config(), self.offer(line).filter(|offer| offer.said_by.is_none()));
        let Some(offer) = offer.filter(|_| config.start != StartMode::Lazy) else { return false };
        // Nothing is kept of a server whose script was edited since, nor of one that was to be forgotten.
        freshness(&offer.offered, interest, &config.transport, self.now()) != Freshness::Fresh
            || self.place(config).is_some_and(|place| !place.is_taken())
    }
}
