//! Ctrl-C, a closed terminal and SIGTERM: the person, or whoever supervises us, wants us to stop. What is under way is cancelled at the server first.

use tokio::signal::unix::{SignalKind, signal};

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
