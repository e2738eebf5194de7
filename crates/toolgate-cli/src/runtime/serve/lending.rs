//! How the runtime lets a session use a server: the settings are read as the session has read them, and what is the same there and here is lent.

use std::sync::Arc;

use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use toolgate::Interest;
use toolgate::servers::identity;

use super::{Incoming, Runtime, ended, send};
use crate::args::Cli;
use crate::configured::Plan;
use crate::runtime::context::Context;
use crate::runtime::frames::{Borrowing, ToClient};
use crate::runtime::hosts::LentServer;
use crate::runtime::idle::Busy;
use crate::runtime::outbox::Outbox;
use crate::runtime::visit::Visit;
use crate::session::Session;

impl Runtime {
    /// Lends a server, until the session, the server or the runtime is gone. Whoever cannot have it here starts it themselves.
    pub(super) async fn lend(&self, borrowing: Borrowing, frames: Incoming, mut to: OwnedWriteHalf) {
        let _busy = Busy::new(&self.activity);
        let Some(server) = self.lent_server(borrowing).await else {
            return send(&mut to, &ToClient::Yourself).await;
        };
        if to.write_all(&ToClient::Taken.bytes()).await.is_err() {
            return;
        }
        let mut ends = self.ends.subscribe();
        tokio::select! {
            () = server.serve(frames.from, to) => {}
            () = ended(&mut ends) => {}
        }
    }

    async fn lent_server(&self, borrowing: Borrowing) -> Option<LentServer> {
        let cli = self.typed(&borrowing.errand).filter(|_| !*self.ends.borrow())?;
        let (hosts, server) = (self.hosts.clone(), borrowing.server.clone());
        let visit = Arc::new(Visit::new(borrowing.errand.clone().into(), Arc::new(Outbox::default()), hosts));
        // Files are read for it.
        let meant = tokio::task::spawn_blocking(move || meant(cli, visit, &borrowing)).await.ok()?;
        let (context, plan) = meant?;
        self.hosts.lend_server(context, &plan, &server).await
    }
}

/// What the session would start, and where it is kept; nothing when that is another server here. Blocks.
fn meant(cli: Cli, visit: Arc<Visit>, borrowing: &Borrowing) -> Option<(Context, Plan)> {
    let session = Session::visiting(cli.options, visit);
    let configured = session.configured().ok()?;
    let servers = configured.chosen(Some(&borrowing.server)).ok()?;
    if !servers.iter().any(|server| identity(server) == borrowing.identity) {
        return None;
    }
    let plan = configured.plan(Interest::ALL).with_memory().starting(&servers);
    let context = Context::of(&plan, session.options(), session.can_be_asked());
    Some((context, plan))
}
