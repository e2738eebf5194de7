//! How a command gets the host it works with: one of its own, one that the runtime lends it, or the one of the session it was typed in.

use std::sync::Arc;

use futures_util::FutureExt as _;
use toolgate::auth::store::TokenStore;
use toolgate::shape::visible;
use toolgate::trust::AdmittedServers;
use toolgate::{Host, HostBuilder, Memory};

use super::Session;
use crate::configured::{Plan, naming};
use crate::error::{CommandError, Result};
use crate::exit_code::Ending;
use crate::front_end::Person;
use crate::login::TerminalGuide;
use crate::printer::Printer;
use crate::runtime::context::Context;
use crate::runtime::hosts::{Lent, Visitor};
use crate::unmatched;
use crate::wire_tap::{self, Shown};

impl Session {
    /// A host of this command alone, or one that is lent to it. With nothing started yet, as far as the command can see.
    async fn host(&self, plan: &Plan) -> Result<UsedHost> {
        if let Some(lasting) = &self.lasting {
            // Whoever wants to ask servers anew asks servers of their own.
            let is_lent = plan.memory == Memory::Used;
            return Ok(if is_lent {
                UsedHost::Of(lasting.lend(plan).await)
            } else {
                UsedHost::Own(self.own_host(plan))
            });
        }
        let Some(visit) = &self.visit else { return Ok(UsedHost::Own(self.own_host(plan))) };
        let context = Context::of(plan, &self.options, self.can_be_asked());
        if plan.memory != Memory::Used {
            // Whoever wants to ask servers anew asks servers of their own, and those that are shared are asked meanwhile.
            visit.hosts().refresh(&context);
            self.hand_back()?;
        }
        let talk = self.printer.talk().clone();
        let person = Person { talk, can_be_asked: false, login_guide: None, wants_details: false };
        let visitor = Visitor { person, visit: visit.clone() };
        match visit.hosts().lend(context, plan, visitor).await {
            Some(lent) => {
                // There is nobody here who could lead the person through it. Whoever uses one server notices by itself.
                if plan.shows_all && plan.offers_login && self.can_be_asked() && lent.wants_login(plan).await {
                    self.hand_back()?;
                }
                Ok(UsedHost::Lent(lent))
            }
            None => {
                self.hand_back()?;
                Ok(UsedHost::Own(self.own_host(plan)))
            }
        }
    }

    fn own_host(&self, plan: &Plan) -> Host {
        self.builder(plan).memory(plan.memory).with_ahead(plan.take_ahead()).for_one_question().build()
    }

    /// The same, when it may have a host of its own, while what is kept of these servers is read.
    pub(crate) fn reading_ahead(&self, plan: Plan, servers: &AdmittedServers) -> Plan {
        let is_own = self.lasting.is_none() && self.visit.is_none() && plan.memory == Memory::Used;
        if is_own { plan.reading_ahead(servers) } else { plan }
    }

    /// How a host of this process begins.
    pub(crate) fn builder(&self, plan: &Plan) -> HostBuilder {
        let can_be_asked = self.can_be_asked() && self.visit.is_none();
        let guide = TerminalGuide {
            talk: self.printer.talk().clone(),
            asks_first: true,
            opens_browser: self.has_a_browser(),
            somebody_types: can_be_asked,
            reads_lines: true,
        };
        let person = Person {
            talk: self.printer.talk().clone(),
            can_be_asked,
            login_guide: (can_be_asked && plan.offers_login).then(|| Arc::new(guide)),
            wants_details: self.options.debug,
        };
        let mut builder = Host::builder(plan.env.clone())
            .front_end(Arc::new(person))
            .interest(plan.interest)
            .naming(naming(&plan.settings))
            .connect_limit(plan.settings.connect_limit())
            .env_exceptions(plan.env_exceptions.clone())
            .call_rules(plan.call_rules.clone().unwrap_or_default())
            .token_store(TokenStore::of(&plan.settings))
            .lender(plan.lender.clone());
        let talk = self.printer.talk();
        let shown = if self.options.debug { Some(Shown::OnStderr) } else { talk.has_log().then_some(Shown::InLog) };
        if let Some(shown) = shown {
            builder = builder.tap(wire_tap::shown_on(talk, shown));
        }
        builder
    }

    /// Works with servers: starts them, and stops them when the work is done, has failed, or is no longer wanted.
    ///
    /// A failure is told before the servers are stopped, which may take a moment.
    pub(crate) fn with_host(
        &mut self,
        plan: &Plan,
        work: impl AsyncFnOnce(&Host, &mut Printer) -> Result<Ending>,
    ) -> Result<Ending> {
        self.in_runtime(async |session| {
            let interrupts = session.interrupts();
            let used = tokio::select! {
                biased;
                used = session.host(plan) => used?,
                () = interrupts.next() => return Err(CommandError::interrupted()),
            };
            let host = used.host();
            let ended = {
                let mut working = std::pin::pin!(work(host, &mut session.printer));
                tokio::select! {
                    biased;
                    ended = &mut working => ended,
                    // The work knows best what was interrupted, when it has heard of it.
                    () = interrupts.next() => working.now_or_never().unwrap_or_else(|| Err(CommandError::interrupted())),
                }
            };
            let can_log_in = plan.offers_login && session.can_be_asked();
            match ended.as_ref().err().map(CommandError::ending) {
                Some(Ending::LoginNeeded) if can_log_in => session.hand_back()?,
                // A server that has run for long may have it by now, and not say so.
                Some(Ending::Unknown) => session.hand_back()?,
                _ => {}
            }
            let printer = &mut session.printer;
            printer.talk().waits_no_more();
            printer.talk().give_up_question();
            let ended = match ended.and_then(|ending| Ok(printer.flush().map(|()| ending)?)) {
                Ok(ending) => ending,
                Err(error) => printer.report(&error),
            };
            // What is only a warning does not keep the result waiting.
            unmatched::warn(plan, host, printer.talk());
            if session.lasting.is_none() {
                let_servers_speak(host, &session.printer, session.options.debug);
            }
            if session.lasting.is_none() && session.visit.is_none() {
                host.leave_offers_to_the_system();
            }
            tokio::select! {
                biased;
                () = host.shutdown() => {}
                () = interrupts.next() => {} // Whoever says it twice means it.
            }
            session.printer.talk().give_up_question();
            if session.lasting.is_some() {
                session.printer.talk().asks_again();
            }
            Ok(ended)
        })
    }

    /// Does something that waits for others.
    pub(crate) fn in_runtime(&mut self, work: impl AsyncFnOnce(&mut Self) -> Result<Ending>) -> Result<Ending> {
        if self.visit.is_some() || self.lasting.is_some() {
            // One that is shared: what goes on in it goes on when this command has ended.
            return tokio::runtime::Handle::current().block_on(work(self));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            CommandError::new(Ending::Unreachable, "runtime", format!("cannot start the runtime: {error}"))
        })?;
        let ended = runtime.block_on(work(self));
        // A thread that still waits for a key or for stdin is not waited for.
        runtime.shutdown_background();
        ended
    }
}

/// The host that a command uses.
#[derive(Debug)]
enum UsedHost {
    Own(Host),
    Lent(Lent),
    /// The one of the session.
    Of(Host),
}

impl UsedHost {
    const fn host(&self) -> &Host {
        match self {
            Self::Own(host) | Self::Of(host) => host,
            Self::Lent(lent) => &lent.host,
        }
    }
}

/// Writes the stderr of servers to the log file, and shows it on the screen if details were requested.
fn let_servers_speak(host: &Host, printer: &Printer, wants_details: bool) {
    let talk = printer.talk();
    if !wants_details && !talk.has_log() {
        return;
    }
    for view in host.servers() {
        for line in host.stderr_tail(view.name()).lines() {
            let who = visible::line(view.name()).into_owned();
            let line = format!("{who} stderr: {}", visible::line(line));
            if wants_details { talk.line(&line) } else { talk.log(&line) }
        }
    }
}
