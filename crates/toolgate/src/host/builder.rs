//! `HostBuilder`: how a host is to be, said before there is one.

use std::sync::Arc;

use super::ahead::ReadAhead;
use super::board::Board;
use super::shown::Shown;
use super::start_plan::Life;
use super::{Host, Memory};
use crate::audit::AuditSink;
use crate::auth::store::TokenStore;
use crate::call::{CallContext, CallRules, Confirmer};
use crate::connect::{FrontEnd, Lender, NobodyToAsk, WireTap};
use crate::discovery::Interest;
use crate::env::HostEnv;
use crate::limits::CONNECT_LIMIT_COUNT;
use crate::policy::Presence;
use crate::registry::Naming;
use crate::settings::EnvExceptions;

/// How a host is to be.
pub struct HostBuilder {
    pub(super) env: Arc<HostEnv>,
    pub(super) front_end: Arc<dyn FrontEnd>,
    pub(super) tap: Option<WireTap>,
    pub(super) naming: Naming,
    pub(super) interest: Interest,
    pub(super) connect_limit: usize,
    pub(super) env_exceptions: EnvExceptions,
    pub(super) life: Life,
    pub(super) memory: Memory,
    pub(super) call_rules: Option<CallRules>,
    pub(super) token_store: TokenStore,
    pub(super) lender: Option<Arc<dyn Lender>>,
    pub(super) ahead: Option<ReadAhead>,
}

impl HostBuilder {
    /// In that world, with nothing said about it yet.
    pub(super) fn new(env: Arc<HostEnv>) -> Self {
        Self {
            env,
            front_end: Arc::new(NobodyToAsk),
            tap: None,
            naming: Naming::default(),
            interest: Interest::ALL,
            connect_limit: CONNECT_LIMIT_COUNT,
            env_exceptions: EnvExceptions::default(),
            life: Life::Long,
            memory: Memory::Off,
            call_rules: None,
            token_store: TokenStore::default(),
            lender: None,
            ahead: None,
        }
    }

    /// Who answers the questions of servers; nobody, when this is not called.
    #[must_use]
    pub fn front_end(mut self, front_end: Arc<dyn FrontEnd>) -> Self {
        self.front_end = front_end;
        self
    }

    /// Shows every frame to and from every server.
    #[must_use]
    pub fn tap(mut self, tap: WireTap) -> Self {
        self.tap = Some(tap);
        self
    }

    /// How tools are named.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// What servers are asked for; everything, when this is not called.
    #[must_use]
    pub fn interest(mut self, interest: Interest) -> Self {
        self.interest = interest;
        self
    }

    /// How many servers are being started at once.
    #[must_use]
    pub fn connect_limit(mut self, limit: usize) -> Self {
        self.connect_limit = limit;
        self
    }

    /// Variables that children receive, or do not, in spite of their names.
    #[must_use]
    pub fn env_exceptions(mut self, exceptions: EnvExceptions) -> Self {
        self.env_exceptions = exceptions;
        self
    }

    /// What every call goes through. Without it only what reads the workspace is let through.
    #[must_use]
    pub fn call_rules(mut self, rules: CallRules) -> Self {
        self.call_rules = Some(rules);
        self
    }

    /// Sets the front end that asks before a call, and makes the run interactive.
    #[must_use]
    pub fn confirmer(mut self, confirmer: impl Confirmer + 'static) -> Self {
        let rules = self.call_rules.get_or_insert_default();
        rules.confirmer = Arc::new(confirmer);
        rules.presence = Presence::Interactive;
        self
    }

    /// Sets the sink that keeps the record of calls.
    #[must_use]
    pub fn audit(mut self, audit: impl AuditSink + 'static) -> Self {
        self.call_rules.get_or_insert_default().audit = Arc::new(audit);
        self
    }

    /// How logins are kept; as it is safest here, when this is not called.
    #[must_use]
    pub const fn token_store(mut self, store: TokenStore) -> Self {
        self.token_store = store;
        self
    }

    /// Who may have a server already that would be started here; nobody, when this is not called.
    #[must_use]
    pub fn lender(mut self, lender: Option<Arc<dyn Lender>>) -> Self {
        self.lender = lender;
        self
    }

    /// What is done with what servers offered in earlier runs; nothing, when this is not called.
    #[must_use]
    pub const fn memory(mut self, memory: Memory) -> Self {
        self.memory = memory;
        self
    }

    /// What was read of it before ([`Host::read_ahead`]), for a host that uses it.
    #[must_use]
    pub fn with_ahead(mut self, ahead: Option<ReadAhead>) -> Self {
        self.ahead = ahead;
        self
    }

    /// For a host that lives for one question: servers are not asked to tell of changes, and one that is lost is not started again by itself.
    #[must_use]
    pub fn for_one_question(mut self) -> Self {
        self.life = Life::OneQuestion;
        self
    }

    /// The host. Nothing is started yet.
    #[must_use]
    pub fn build(mut self) -> Host {
        let calls = CallContext::new(self.call_rules.take().unwrap_or_default(), &self.env);
        Host { board: Board::new(self), calls, shown: Shown::All }
    }
}
