//! `RecordKeeper`: writes records down on a thread of its own, so that files, locks and disks hold no other work up.
//!
//! What was handed over is done in the order in which it came, and all of it before the keeper is gone: whoever drops the host waits for it.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::audit::AuditSink;
use crate::limits::RECORDS_WAITING_MAX;

/// Something to be done with whoever keeps records.
type Job = Box<dyn FnOnce(&dyn AuditSink) + Send>;

/// Has records written down. Its thread begins with the first one.
pub(super) struct RecordKeeper {
    audit: Arc<dyn AuditSink>,
    worker: Mutex<Option<Worker>>,
}

struct Worker {
    queue: SyncSender<Job>,
    thread: JoinHandle<()>,
}

impl RecordKeeper {
    pub(super) fn new(audit: Arc<dyn AuditSink>) -> Self {
        Self { audit, worker: Mutex::default() }
    }

    /// Whoever keeps the records.
    pub(super) fn audit(&self) -> &dyn AuditSink {
        &*self.audit
    }

    /// Does it soon. Waits when too much is to be done already; where no thread can be had, it is done here.
    pub(super) fn hand_over(&self, job: impl FnOnce(&dyn AuditSink) + Send + 'static) {
        let job: Job = Box::new(job);
        match self.queue() {
            Some(queue) => {
                if let Err(SendError(job)) = queue.send(job) {
                    job(&*self.audit);
                }
            }
            None => job(&*self.audit),
        }
    }

    fn queue(&self) -> Option<SyncSender<Job>> {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.as_ref().is_none_or(|worker| worker.thread.is_finished()) {
            let (queue, jobs) = sync_channel(RECORDS_WAITING_MAX);
            let audit = self.audit.clone();
            let thread = thread::Builder::new().name("records".to_owned()).spawn(move || work(&jobs, &*audit));
            *worker = thread.ok().map(|thread| Worker { queue, thread });
        }
        worker.as_ref().map(|worker| worker.queue.clone())
    }
}

fn work(jobs: &Receiver<Job>, audit: &dyn AuditSink) {
    let mut settle_in = None;
    loop {
        let job = match settle_in {
            None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(time) => jobs.recv_timeout(time),
        };
        match job {
            Ok(job) => job(audit),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        settle_in = audit.settle();
    }
    audit.leave();
}

impl Drop for RecordKeeper {
    fn drop(&mut self) {
        let worker = self.worker.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Worker { queue, thread }) = worker {
            drop(queue);
            let _finished = thread.join().is_ok();
        }
    }
}

impl fmt::Debug for RecordKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordKeeper").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::RecordKeeper;
    use crate::audit::NoAudit;

    #[test]
    fn everything_is_done_in_order_before_it_is_gone() {
        let done: Arc<Mutex<Vec<u32>>> = Arc::default();
        let keeper = RecordKeeper::new(Arc::new(NoAudit));
        for nth in 0..100 {
            let done = Arc::clone(&done);
            keeper.hand_over(move |_| {
                if nth == 0 {
                    std::thread::sleep(Duration::from_millis(50));
                }
                done.lock().unwrap().push(nth);
            });
        }
        drop(keeper);
        assert_eq!(*done.lock().unwrap(), (0..100).collect::<Vec<_>>());
    }
}
