//! Ctrl-C, a closed terminal and SIGTERM: the person, or whoever supervises us, wants us to stop. What is under way is cancelled at the server first.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Turns the signal for a file beyond `ulimit -f` into a write error, so that it does not end the process. Child processes inherit the
/// original handling.
pub(crate) fn survive_file_limit() {
    // If the signal cannot be handled, it ends the process as before.
    let _taken = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).is_ok();
}

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
    let wait = |number: i32| async move {
        match signal(SignalKind::from_raw(number)) {
            Ok(mut signals) => {
                signals.recv().await;
            }
            // Where signals cannot be listened to, they end the process by themselves.
            Err(_) => std::future::pending().await,
        }
    };
    let mut waiting: FuturesUnordered<_> = heeded().map(wait).collect();
    if waiting.next().await.is_none() {
        std::future::pending::<()>().await; // Nobody can.
    }
}

/// The signals that ask us to stop: those that whoever started us has not switched off, as `nohup` does.
pub(crate) fn heeded() -> impl Iterator<Item = i32> {
    // As it was when it was first asked about: nobody switches them off later, and commands ask more than once.
    static IGNORED: OnceLock<u64> = OnceLock::new();
    let ignored =
        *IGNORED.get_or_init(|| ignored_in(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()));
    [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(move |number| ignored >> (number - 1) & 1 == 0)
}

/// The signals that are switched off, as bits. Where nobody tells, none is.
fn ignored_in(status: &str) -> u64 {
    let bits = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::ignored_in;

    #[test]
    fn what_is_switched_off_is_read_from_the_system() {
        let cases = [
            ("Name:\ta\nSigIgn:\t0000000000001001\nSigCgt:\t0\n", 0x1001),
            ("SigIgn:\tzero\n", 0),
            ("SigBlk:\tff\n", 0),
            ("", 0),
        ];
        for (status, expected) in cases {
            assert_eq!(ignored_in(status), expected, "{status:?}");
        }
    }
}
