//! Ctrl-C, a closed terminal and SIGTERM: the person, or whoever supervises us, wants us to stop. What is under way is cancelled at the server first.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Who may want a command to stop.
#[derive(Clone, Debug, Default)]
pub(crate) enum Interrupts {
    /// Whoever sends us signals.
    #[default]
    Signals,
    /// Somebody at the other end of a connection: true when they do, or are gone.
    Elsewhere(watch::Receiver<bool>),
}

impl Interrupts {
    /// Waits until somebody wants us to stop.
    pub(crate) async fn next(&self) {
        match self {
            Self::Signals => interrupted().await,
            Self::Elsewhere(wanted) => {
                // Whoever could say so no longer has gone.
                let _said = wanted.clone().wait_for(|is_wanted| *is_wanted).await.is_ok();
            }
        }
    }
}

/// Waits until somebody wants us to stop.
pub(crate) async fn interrupted() {
    let wait = |kind| async move {
        match signal(kind) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            // Where signals cannot be listened to, they end the process by themselves.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
        () = wait(SignalKind::quit()) => {}
    }
}
