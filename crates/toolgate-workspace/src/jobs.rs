//! File work beside the runtime: on threads that may block, a bounded number at once, and given up when the call is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use crate::error::Failure;
use crate::limits::FILE_JOBS_MAX;

/// Runs file work.
#[derive(Debug, Clone)]
pub(crate) struct Jobs(Arc<Semaphore>);

/// Whether the call that wanted this work was given up.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error once the call was given up.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.is_cancelled() { Err(Failure::cancelled()) } else { Ok(()) }
    }
}

/// Dropped with the call.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Jobs {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Semaphore::new(FILE_JOBS_MAX)))
    }

    /// Does `work` on a thread of its own, once there is room.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancel) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let stopped = || Failure::new("the server is stopping; nothing was done");
        let room = self.0.clone().acquire_owned().await.map_err(|_| stopped())?;
        let cancel = Cancel::default();
        let _given_up = CancelOnDrop(cancel.clone());
        let job = tokio::task::spawn_blocking(move || {
            let done = work(&cancel);
            // The room is free when the work has ended, which may be after the call was given up.
            drop(room);
            done
        });
        job.await.map_err(|_| stopped())?
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::Jobs;
    use crate::limits::FILE_JOBS_MAX;

    #[tokio::test]
    async fn work_of_a_call_that_is_given_up_ends_and_makes_room() {
        let jobs = Jobs::new();
        let running = Arc::new(AtomicUsize::new(0));
        let endless = |running: Arc<AtomicUsize>| {
            jobs.run(move |cancel| {
                running.fetch_add(1, Ordering::Relaxed);
                while !cancel.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                running.fetch_sub(1, Ordering::Relaxed);
                cancel.check()
            })
        };
        let calls: Vec<_> = (0..FILE_JOBS_MAX).map(|_| Box::pin(endless(running.clone()))).collect();
        let all = futures_util::future::join_all(calls);
        assert!(tokio::time::timeout(Duration::from_millis(300), all).await.is_err(), "they have no end");
        // There is room again, because those that were given up have ended.
        for _ in 0..FILE_JOBS_MAX {
            jobs.run(|_| Ok(())).await.unwrap();
        }
        while running.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
