//! A value behind a lock that cannot be poisoned: a test that panics elsewhere must not hide its own message behind a
//! second panic about a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A value shared between the tasks of a scripted server.
#[derive(Debug, Default)]
pub(crate) struct Guarded<T>(Mutex<T>);

impl<T> Guarded<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// Locks. Never held across an await.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
