//! Turns: commands on one subject are decided one after the other within this process, so that they
//! do not conflict with each other and each comes to its turn. Other processes are met by the
//! store's preconditions alone.

use std::{
    collections::BTreeSet,
    fmt,
    hash::{BuildHasher as _, RandomState},
    sync::Arc,
    time::Duration,
};

use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::event::Subject;

/// How many subjects are told apart; those that fall together wait for each other needlessly.
const STRIPES: usize = 1_024;
/// How long a command waits for its turn.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The turns of all subjects.
#[derive(Clone)]
pub(super) struct Turns {
    stripes: Arc<[Arc<Mutex<()>>]>,
    hash: RandomState,
}

/// The turn of a command; over when it is dropped.
pub(super) struct Turn {
    _guards: Vec<OwnedMutexGuard<()>>,
}

/// The subjects were not free in time.
#[derive(Debug)]
pub(super) struct TooLong;

impl Default for Turns {
    fn default() -> Self {
        let stripes = std::iter::repeat_with(Arc::default).take(STRIPES).collect();
        let hash = RandomState::new();
        Self { stripes, hash }
    }
}

impl Turns {
    /// Waits until all these subjects are free. Everyone takes them in one order, so nobody waits
    /// in a circle.
    pub(super) async fn wait<'a>(
        &self,
        subjects: impl Iterator<Item = &'a Subject>,
    ) -> Result<Turn, TooLong> {
        let stripe = |subject| self.hash.hash_one(subject).checked_rem(STRIPES as u64);
        let wanted: BTreeSet<_> = subjects.filter_map(stripe).collect();
        let taking = async {
            let mut guards = Vec::with_capacity(wanted.len());
            for stripe in wanted {
                let stripe = usize::try_from(stripe).ok();
                if let Some(mutex) = stripe.and_then(|stripe| self.stripes.get(stripe)) {
                    guards.push(Arc::clone(mutex).lock_owned().await);
                }
            }
            guards
        };
        let guards = tokio::time::timeout(LONGEST_WAIT, taking).await;
        guards
            .map(|guards| Turn { _guards: guards })
            .map_err(|_| TooLong)
    }
}

impl fmt::Debug for Turns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Turns")
    }
}
