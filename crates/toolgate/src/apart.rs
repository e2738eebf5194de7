//! Work that may block, on a thread of its own, with a limit to how long anybody waits for it.

use std::sync::mpsc;
use std::time::Duration;

use tokio::sync::oneshot;

/// Does work that may block, and stops waiting for it after `limit`. A thread of its own, not one of the runtime: that would not end before
/// all of its threads have, so a file system or a keychain that hangs would keep the whole program from ending.
pub(crate) async fn apart<T: Send + 'static>(limit: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (done, result) = oneshot::channel();
    let thread = std::thread::Builder::new().name("apart".to_owned()).spawn(move || {
        let _nobody_waits_any_more = done.send(work()).is_err();
    });
    thread.ok()?;
    tokio::time::timeout(limit, result).await.ok()?.ok()
}

/// The same for whoever blocks anyway.
pub(crate) fn apart_blocking<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (done, result) = mpsc::sync_channel(1);
    let thread = std::thread::Builder::new().name("apart".to_owned()).spawn(move || {
        let _nobody_waits_any_more = done.send(work()).is_err();
    });
    thread.ok()?;
    result.recv_timeout(limit).ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{apart, apart_blocking};

    const SHORT: Duration = Duration::from_millis(20);
    const LONG: Duration = Duration::from_secs(60);

    fn slow() {
        std::thread::sleep(Duration::from_secs(5));
    }

    #[tokio::test]
    async fn nobody_waits_longer_than_the_limit() {
        assert_eq!(apart(SHORT, slow).await, None);
        assert_eq!(apart(LONG, || 5).await, Some(5));
        assert_eq!(apart_blocking(SHORT, slow), None);
        assert_eq!(apart_blocking(LONG, || 5), Some(5));
    }
}
