//! The share of each caller in what the service does at once: queries, live queries, and the expensive statements
//! of its queries. Without shares, one caller with many connections keeps all others waiting.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use es_event::Caller;
use es_net::ClientIdentity;
use es_read::projection::CallerShare;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{HttpContext, Problem};

/// The smallest share in queries and in live queries, if the service allows as many: a browser opens six connections
/// to a host.
const LEAST: usize = 6;

/// The shares of all callers that use the service at the moment. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct CallerShares(Arc<SharedShares>);

#[derive(Debug)]
struct SharedShares {
    size: ShareSize,
    callers: Mutex<HashMap<ClientIdentity, Arc<CallerPermits>>>,
}

/// The number of things that one caller may do at once.
#[derive(Debug, Clone, Copy)]
struct ShareSize {
    queries: usize,
    live_queries: usize,
    scans: u32,
}

/// The permits of one caller.
#[derive(Debug)]
struct CallerPermits {
    queries: Arc<Semaphore>,
    live_queries: Arc<Semaphore>,
    scans: CallerShare,
}

/// A caller that uses the service. Its share is forgotten with the last handle.
#[derive(Debug)]
pub(super) struct ActiveCaller {
    identity: ClientIdentity,
    caller: Caller,
    permits: Arc<CallerPermits>,
    shares: CallerShares,
}

impl CallerShares {
    /// Creates the shares that follow from the limits of the service.
    pub(super) fn new(context: &HttpContext) -> Self {
        let percent = context.limits.caller_share.clamp(1, 100);
        let part = |whole: usize| {
            let part = whole.saturating_mul(percent.into()) / 100;
            part.max(LEAST).min(whole).min(Semaphore::MAX_PERMITS)
        };
        let scans = u32::from(percent).saturating_mul(context.database.scan_limit()) / 100;
        let size = ShareSize {
            queries: part(context.limits.requests),
            live_queries: part(context.live.max_open()),
            scans,
        };
        Self(Arc::new(SharedShares {
            size,
            callers: Mutex::default(),
        }))
    }

    /// Returns the share of a caller.
    pub(super) fn enter(&self, identity: ClientIdentity, caller: Caller) -> ActiveCaller {
        let size = self.0.size;
        let mut callers = self.lock();
        let permits = callers.entry(identity.clone()).or_insert_with(|| {
            Arc::new(CallerPermits {
                queries: Arc::new(Semaphore::new(size.queries)),
                live_queries: Arc::new(Semaphore::new(size.live_queries)),
                scans: CallerShare::new(size.scans),
            })
        });
        ActiveCaller {
            identity,
            caller,
            permits: Arc::clone(permits),
            shares: self.clone(),
        }
    }

    /// Locks the map. A poisoned lock is safe, because each change is complete.
    fn lock(&self) -> MutexGuard<'_, HashMap<ClientIdentity, Arc<CallerPermits>>> {
        self.0
            .callers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl ActiveCaller {
    /// Returns the caller as handlers take it.
    pub(super) const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Acquires the permit of a query, or refuses it if the caller runs as many as it may.
    pub(super) fn try_acquire_query(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.permits.queries).try_acquire_owned();
        permit.map_err(|_| Problem::share_in_use())
    }

    /// Acquires the permit of a live query, or refuses it if the caller has as many open as it may.
    pub(super) fn try_acquire_live_query(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.permits.live_queries).try_acquire_owned();
        permit.map_err(|_| Problem::share_in_use())
    }

    /// Returns the share in the statements of the database.
    pub(super) fn scans(&self) -> CallerShare {
        self.permits.scans.clone()
    }
}

impl Drop for ActiveCaller {
    fn drop(&mut self) {
        let mut callers = self.shares.lock();
        // The map has one handle and this caller the other.
        if Arc::strong_count(&self.permits) <= 2 {
            callers.remove(&self.identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(queries: usize, live_queries: usize) -> CallerShares {
        CallerShares(Arc::new(SharedShares {
            size: ShareSize {
                queries,
                live_queries,
                scans: 1,
            },
            callers: Mutex::default(),
        }))
    }

    fn enter(shares: &CallerShares, address: &str) -> ActiveCaller {
        let identity = ClientIdentity::from_address(address.parse().unwrap());
        shares.enter(identity, Caller::Anyone)
    }

    #[test]
    fn a_caller_that_uses_its_share_takes_nothing_from_others() {
        let shares = shares(2, 1);
        let [first, second, third] = [(); 3].map(|()| enter(&shares, "192.0.2.1"));
        let _queries = [&first, &second].map(|caller| caller.try_acquire_query().unwrap());
        let _stream = first.try_acquire_live_query().unwrap();
        for refused in [third.try_acquire_query(), third.try_acquire_live_query()] {
            assert_eq!(refused.unwrap_err().status(), 429);
        }
        let other = enter(&shares, "192.0.2.2");
        assert!(other.try_acquire_query().is_ok() && other.try_acquire_live_query().is_ok());
    }

    #[test]
    fn a_caller_is_forgotten_with_its_last_request() {
        let shares = shares(1, 1);
        let (first, second) = (enter(&shares, "192.0.2.1"), enter(&shares, "192.0.2.1"));
        drop(first);
        assert_eq!(shares.lock().len(), 1);
        drop(second);
        assert!(shares.lock().is_empty());
    }
}
