//! The lease of another process, as this process sees it. Only the clock of this process decides when it is expired.

use tokio::time::Instant;

use super::checkpoint::CallLease;

/// The last seen lease of another process, and the time since which it has not changed.
#[derive(Debug, Default)]
pub(super) struct ForeignLease(Option<(CallLease, Instant)>);

impl ForeignLease {
    /// Returns whether a lease is still valid. No two leases are equal, because a renewal and a new lease change it.
    pub(super) fn is_valid(&mut self, lease: &CallLease) -> bool {
        match &self.0 {
            Some((observed, since)) if observed == lease => since.elapsed() < lease.duration(),
            _ => {
                self.0 = Some((lease.clone(), Instant::now()));
                true
            }
        }
    }
}
