//! `Lender`: somebody who keeps servers running and lets others use them.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolgate_wire::Endpoint;

use crate::servers::ServerConfig;

/// Somebody who keeps servers running and lets others use them, so that they are not started once more.
pub trait Lender: fmt::Debug + Send + Sync + 'static {
    /// The way to a server that they keep. Nothing when they do not, or are gone: then it is started here.
    fn lend(&self, server: &Arc<ServerConfig>) -> BoxFuture<'static, Option<Endpoint>>;
}
