//! Locks on subjects. Within one process, commands on one subject are decided one after the other,
//! so that they do not conflict with each other. Between processes, only the preconditions of the
//! event store protect a decision.

use std::{
    collections::BTreeSet,
    fmt,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
    time::Duration,
};

use tokio::sync::{Mutex, OwnedMutexGuard};

use super::RandomNumbers;
use es_event::Subject;

/// The number of lock stripes. Two subjects that share a stripe wait for each other needlessly.
const STRIPES: u64 = 1_024;
/// The longest time that a command waits for its subjects.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The locks of all subjects, striped by the subject's hash.
#[derive(Clone)]
pub(super) struct SubjectLocks {
    stripes: Arc<[Arc<Mutex<()>>]>,
    /// A secret of this process, so that no client finds subjects that share a stripe.
    secret: u64,
}

/// The locked subjects of one command. Dropping it releases them.
pub(super) struct LockedSubjects {
    _guards: Vec<OwnedMutexGuard<()>>,
}

/// Another command held a subject for longer than [`LOCK_TIMEOUT`].
#[derive(Debug)]
pub(super) struct LockTimeout;

impl SubjectLocks {
    pub(super) fn new(random: &RandomNumbers) -> Self {
        let stripes = (0..STRIPES).map(|_| Arc::default()).collect();
        let secret = random.next();
        Self { stripes, secret }
    }

    /// Locks all of these subjects. Every command locks the stripes in ascending order, which rules
    /// out deadlocks.
    pub(super) async fn lock_subjects<'a>(
        &self,
        subjects: impl Iterator<Item = &'a Subject>,
    ) -> Result<LockedSubjects, LockTimeout> {
        let stripes: BTreeSet<_> = subjects.map(|subject| self.stripe(subject)).collect();
        let lock_all = async {
            let mut guards = Vec::with_capacity(stripes.len());
            for mutex in stripes
                .into_iter()
                .filter_map(|stripe| self.stripes.get(stripe))
            {
                guards.push(Arc::clone(mutex).lock_owned().await);
            }
            LockedSubjects { _guards: guards }
        };
        let locked = tokio::time::timeout(LOCK_TIMEOUT, lock_all).await;
        locked.map_err(|_| LockTimeout)
    }

    /// Returns the index of the lock that a subject shares with others.
    fn stripe(&self, subject: &Subject) -> usize {
        let mut hasher = DefaultHasher::new();
        (self.secret, subject).hash(&mut hasher);
        usize::try_from(hasher.finish() % STRIPES).unwrap_or_default()
    }
}

impl fmt::Debug for SubjectLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectLocks")
    }
}
