//! What `toolgate prompts` and `toolgate resources` have in common: servers are asked for one kind of thing, and it is shown as they arrive,
//! or as one JSON object when all have.

use toolgate::registry::Catalog;
use toolgate::servers::SetAside;
use toolgate::trust::AdmittedServers;
use toolgate::{Host, Interest, ServerName};

use crate::arrival::{Arrivals, Waiting, settled};
use crate::configured::one_server;
use crate::error::Result;
use crate::exit_code::Ending;
use crate::json::ObjectWriter;
use crate::listing::{tell_held_back, tell_of_memory, write_remembered, write_unusable};
use crate::printer::{Form, Printer};
use crate::session::Session;
use crate::trouble::Troubles;

/// Prints what one server offers, after others or not. Whether that is anything.
pub(super) type PrintBlock<'a> = dyn Fn(&ServerName, &Catalog, bool, &mut Printer) -> Result<bool> + 'a;

/// One kind of thing that servers offer.
pub(super) struct Offers<'a> {
    /// What servers are asked for.
    pub(super) interest: Interest,
    /// What people call it.
    pub(super) plural: &'static str,
    /// The kinds of entries that may be set aside.
    pub(super) kinds: &'static [&'static str],
    /// Prints what one server offers.
    pub(super) block: &'a PrintBlock<'a>,
    /// Writes what all servers offer.
    pub(super) json: fn(&mut ObjectWriter<'_>, &Catalog) -> std::io::Result<()>,
}

impl Offers<'_> {
    /// Lists what the one server that was asked for offers, or all of them.
    pub(super) fn list(&self, session: &mut Session, only: Option<&str>, fresh: bool) -> Result<Ending> {
        let only = one_server(session.options(), only)?;
        let configured = session.configured()?;
        let servers = configured.chosen(only.as_deref())?;
        let troubles = Troubles::new(session, only.is_some());
        let plan = configured.plan(self.interest).starting(&servers);
        let plan = if fresh { plan } else { plan.with_memory() }.showing_all();
        let waiting = if fresh { Waiting::ForAll } else { session.waiting() };
        let held_back: Vec<&SetAside> = if only.is_none() { configured.set_aside().collect() } else { Vec::new() };
        let listing = Listing { offers: self, servers, troubles, waiting, held_back: &held_back };
        session.with_host(&plan, async |host, printer| match printer.form() {
            Form::Json => listing.print_json(host, printer).await,
            Form::Text => listing.print_text(host, printer).await,
        })
    }
}

/// One run of a command.
struct Listing<'a> {
    offers: &'a Offers<'a>,
    servers: AdmittedServers,
    troubles: Troubles,
    waiting: Waiting,
    /// Servers that are written and not used.
    held_back: &'a [&'a SetAside],
}

impl Listing<'_> {
    async fn print_json(&self, host: &Host, printer: &mut Printer) -> Result<Ending> {
        host.start(self.servers.clone());
        let views = settled(host, printer.talk(), self.waiting).await;
        let ending = self.troubles.judge_listed(&views, printer.talk())?;
        self.troubles.tell_all(&views, printer.talk());
        let catalog = host.catalog_now();
        printer.json(|json| {
            json.object(|object| {
                (self.offers.json)(object, &catalog)?;
                write_unusable(object, &catalog, self.offers.kinds)?;
                write_remembered(object, &views)
            })
        })?;
        Ok(ending)
    }

    async fn print_text(&self, host: &Host, printer: &mut Printer) -> Result<Ending> {
        let talk = printer.talk().clone();
        let mut arrivals = Arrivals::new(host, &talk, self.waiting);
        host.start(self.servers.clone());
        let mut is_any = false;
        while let Some(arrived) = arrivals.next().await {
            let catalog = host.catalog_now();
            for view in &arrived {
                self.troubles.tell(view, &talk);
                is_any |= (self.offers.block)(view.name(), &catalog, is_any, printer)?;
            }
            printer.flush()?;
        }
        let views = settled(host, &talk, self.waiting).await;
        if !is_any
            && views.len() == host.servers().len()
            && views.iter().all(|view| view.agreed.is_some() && !view.is_out_of_reach())
        {
            talk.line(&format!("there are no {}", self.offers.plural));
            if views.is_empty() {
                tell_held_back(self.held_back, self.offers.plural, &talk);
            }
        }
        tell_of_memory(&views, &talk);
        self.troubles.judge(&views)
    }
}
