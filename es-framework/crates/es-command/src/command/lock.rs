//! Locks on subjects. Within one process, commands on one subject are decided one after the other,
//! so that they do not conflict with each other. Between processes, only the preconditions of the
//! event store protect a decision.

use std::{
    collections::BTreeSet,
    fmt,
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
    time::Duration,
};

use tokio::sync::{Mutex, OwnedMutexGuard};

use es_event::Subject;

/// The number of lock stripes. Two subjects that share a stripe wait for each other needlessly.
const STRIPES: u64 = 1_024;
/// The longest time that a command waits for its subjects.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The locks of all subjects, striped by the subject's hash.
#[derive(Clone)]
pub(super) struct SubjectLocks {
    stripes: Arc<[Arc<Mutex<()>>]>,
    hash: RandomState,
}

/// The locked subjects of one command. Dropping it releases them.
pub(super) struct SubjectLockGuard {
    _guards: Vec<OwnedMutexGuard<()>>,
}

/// Another command held a subject for longer than [`LOCK_TIMEOUT`].
#[derive(Debug)]
pub(super) struct LockTimeout;

impl Default for SubjectLocks {
    fn default() -> Self {
        let stripes = (0..STRIPES).map(|_| Arc::default()).collect();
        let hash = RandomState::new();
        Self { stripes, hash }
    }
}

impl SubjectLocks {
    /// Locks all of these subjects. Every command locks the stripes in ascending order, which rules
    /// out deadlocks.
    pub(super) async fn lock<'a>(
        &self,
        subjects: impl Iterator<Item = &'a Subject>,
    ) -> Result<SubjectLockGuard, LockTimeout> {
        let stripes: BTreeSet<_> = subjects.map(|subject| self.stripe(subject)).collect();
        let lock_all = async {
            let mut guards = Vec::with_capacity(stripes.len());
            for mutex in stripes
                .into_iter()
                .filter_map(|stripe| self.stripes.get(stripe))
            {
                guards.push(Arc::clone(mutex).lock_owned().await);
            }
            SubjectLockGuard { _guards: guards }
        };
        let locked = tokio::time::timeout(LOCK_TIMEOUT, lock_all).await;
        locked.map_err(|_| LockTimeout)
    }

    /// Returns the index of the lock that a subject shares with others.
    fn stripe(&self, subject: &Subject) -> usize {
        usize::try_from(self.hash.hash_one(subject) % STRIPES).unwrap_or_default()
    }
}

impl fmt::Debug for SubjectLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectLocks")
    }
}
