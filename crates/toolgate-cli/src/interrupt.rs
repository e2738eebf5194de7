//! Ctrl-C, a closed terminal and SIGTERM: the person, or whoever supervises us, wants us to stop. What is under way is cancelled at the server first.

use std::task::Poll;

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
                let mut told = wanted.clone();
                let mut waiting = std::pin::pin!(told.wait_for(|is_wanted| *is_wanted));
                // Those who wait are woken one after the other, and all see it from the same moment on.
                let seen = std::future::poll_fn(|context| {
                    let is_wanted = *wanted.borrow();
                    if is_wanted { Poll::Ready(()) } else { waiting.as_mut().poll(context).map(drop) }
                });
                seen.await;
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
