//! `Gate`: how many calls run on one server at once. The others wait in the order in which they came, or are turned away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::CALLS_WAITING_MAX;
use crate::server_name::ServerName;
use crate::settings::raw::OnBusy;

/// How many calls run on one server at once.
#[derive(Debug)]
pub(crate) struct Gate {
    places: Arc<Semaphore>,
    most: usize,
    on_busy: OnBusy,
    waiting: AtomicUsize,
}

/// A place among the calls that run, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Place(#[expect(dead_code, reason = "held, and given back when dropped")] OwnedSemaphorePermit);

/// Counts one that waits, for as long as it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Gate {
    pub(crate) fn new(most: usize, on_busy: OnBusy) -> Self {
        let most = most.clamp(1, Semaphore::MAX_PERMITS);
        Self { places: Arc::new(Semaphore::new(most)), most, on_busy, waiting: AtomicUsize::new(0) }
    }

    /// A place for one call. Whoever came first goes first.
    ///
    /// # Errors
    /// When the server is busy and does not let anybody wait, or too many wait already.
    pub(crate) async fn enter(&self, server: &ServerName) -> Result<Place> {
        match self.places.clone().try_acquire_owned() {
            Ok(place) => return Ok(Place(place)),
            Err(TryAcquireError::Closed) => return Err(self.busy(server, "takes no more calls")),
            Err(TryAcquireError::NoPermits) if self.on_busy == OnBusy::Reject => {
                let error = self.busy(server, &format!("already runs {} calls", self.most));
                return Err(error.hinting("try again later; `maxConcurrency` and `onBusy` of the server say how many run at once and whether others wait"));
            }
            Err(TryAcquireError::NoPermits) => {}
        }
        let already = self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        if already >= CALLS_WAITING_MAX {
            return Err(self.busy(server, &format!("has {already} calls waiting already")));
        }
        self.places.clone().acquire_owned().await.map(Place).map_err(|_| self.busy(server, "takes no more calls"))
    }

    fn busy(&self, server: &ServerName, why: &str) -> Error {
        Error::new(ErrorKind::Busy, format!("the server {why}")).about(server)
    }

    /// How many calls run.
    pub(crate) fn running(&self) -> usize {
        self.most.saturating_sub(self.places.available_permits())
    }

    /// How many wait for a place.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::Gate;
    use crate::server_name::ServerName;
    use crate::settings::raw::OnBusy;

    fn name() -> ServerName {
        ServerName::new("srv").unwrap()
    }

    #[tokio::test]
    async fn those_who_wait_go_in_the_order_in_which_they_came() {
        let gate = Arc::new(Gate::new(2, OnBusy::Queue));
        let first = gate.enter(&name()).await.unwrap();
        let second = gate.enter(&name()).await.unwrap();
        assert_eq!((gate.running(), gate.waiting()), (2, 0));
        let order: Arc<Mutex<Vec<usize>>> = Arc::default();
        let mut tasks = Vec::new();
        for number in 0..10 {
            let (gate, order) = (gate.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                let _place = gate.enter(&name()).await.unwrap();
                order.lock().unwrap().push(number);
            }));
            tokio::task::yield_now().await;
        }
        assert_eq!((gate.running(), gate.waiting()), (2, 10));
        drop((first, second));
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
        assert_eq!((gate.running(), gate.waiting()), (0, 0));
    }

    #[tokio::test]
    async fn one_who_gives_up_leaves_the_queue() {
        let gate = Gate::new(1, OnBusy::Queue);
        let place = gate.enter(&name()).await.unwrap();
        let given_up = tokio::time::timeout(std::time::Duration::from_millis(5), gate.enter(&name())).await;
        assert!(given_up.is_err());
        assert_eq!(gate.waiting(), 0);
        drop(place);
        assert!(gate.enter(&name()).await.is_ok());
    }

    #[tokio::test]
    async fn a_server_that_lets_nobody_wait_says_so() {
        let gate = Gate::new(1, OnBusy::Reject);
        let _place = gate.enter(&name()).await.unwrap();
        let error = gate.enter(&name()).await.unwrap_err();
        assert_eq!(error.to_string(), "the server already runs 1 calls");
        assert_eq!(error.kind().as_str(), "busy");
    }
}
