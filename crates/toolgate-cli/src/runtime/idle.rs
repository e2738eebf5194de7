//! When the runtime ends by itself: nobody has asked for anything for a while, and nothing is being done.

use std::time::Duration;

use tokio::sync::watch;

/// What the runtime is asked to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Activity {
    /// Requests that are being worked on.
    pub(crate) running: usize,
    /// Requests since it started.
    pub(crate) requests: u64,
}

/// One request that is being worked on.
#[derive(Debug)]
pub(crate) struct Busy<'a>(&'a watch::Sender<Activity>);

impl<'a> Busy<'a> {
    /// A request begins.
    pub(crate) fn new(activity: &'a watch::Sender<Activity>) -> Self {
        activity.send_modify(|activity| {
            activity.running += 1;
            activity.requests += 1;
        });
        Self(activity)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|activity| activity.running = activity.running.saturating_sub(1));
    }
}

/// Waits until nothing has happened for that long.
pub(crate) async fn idle_for(limit: Duration, mut activity: watch::Receiver<Activity>) {
    loop {
        let is_busy = activity.borrow_and_update().running > 0;
        let changed = activity.changed();
        let goes_on = if is_busy {
            changed.await.is_ok()
        } else {
            match tokio::time::timeout(limit, changed).await {
                Ok(changed) => changed.is_ok(),
                Err(_) => return,
            }
        };
        if !goes_on {
            return; // Nobody can ask for anything any more.
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::watch;

    use super::{Activity, Busy, idle_for};

    #[tokio::test]
    async fn only_quiet_time_counts() {
        let activity = watch::Sender::new(Activity::default());
        let busy = Busy::new(&activity);
        let limit = Duration::from_millis(50);
        let waiting = tokio::spawn(idle_for(limit, activity.subscribe()));
        tokio::time::sleep(limit * 4).await;
        assert!(!waiting.is_finished(), "something is being done");
        drop(busy);
        drop(Busy::new(&activity));
        assert_eq!(*activity.borrow(), Activity { running: 0, requests: 2 });
        tokio::time::timeout(Duration::from_secs(30), waiting).await.unwrap().unwrap();
    }
}
