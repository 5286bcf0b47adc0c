//! The open live queries and their limits.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::super::{Problem, problem::kind};

/// The media type of server-sent events.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The limits of live queries.
///
/// ```
/// use es_framework::http::LiveLimits;
///
/// let few = LiveLimits { open: 8, ..LiveLimits::default() };
/// assert_eq!(few.heartbeat.as_secs(), 15);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct LiveLimits {
    /// The number of live queries that may be open at once.
    pub open: usize,
    /// The time without a new output after which the query runs again, because its output may depend
    /// on the time. If the output is the same, the client gets a comment as a heartbeat.
    pub heartbeat: Duration,
    /// The changes within this time lead to one new output.
    pub gather: Duration,
}

impl Default for LiveLimits {
    fn default() -> Self {
        Self {
            open: 64,
            heartbeat: Duration::from_secs(15),
            gather: Duration::from_millis(100),
        }
    }
}

/// The open live queries. Clones share them.
///
/// ```
/// use es_framework::http::{LiveLimits, LiveQueries};
///
/// let live = LiveQueries::new(LiveLimits::default());
/// live.clone().end_streams(); // closes those of all clones
/// ```
#[derive(Debug, Clone)]
pub struct LiveQueries {
    pub(super) limits: LiveLimits,
    permits: Arc<Semaphore>,
    pub(super) is_over: Arc<watch::Sender<bool>>,
}

impl LiveQueries {
    /// Creates the limits without an open live query.
    #[must_use]
    pub fn new(limits: LiveLimits) -> Self {
        Self {
            limits,
            permits: Arc::new(Semaphore::new(limits.open.min(Semaphore::MAX_PERMITS))),
            is_over: Arc::new(watch::Sender::new(false)),
        }
    }

    /// Closes all open live queries, and each one that opens later. Clients reconnect to another
    /// instance.
    pub fn end_streams(&self) {
        self.is_over.send_replace(true);
    }

    /// Returns the number of open live queries.
    pub(in crate::http) fn open_count(&self) -> f64 {
        let open = self
            .limits
            .open
            .saturating_sub(self.permits.available_permits());
        u32::try_from(open).map_or(f64::INFINITY, f64::from)
    }

    pub(super) fn acquire_permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        permit.map_err(|_| {
            let detail = format!(
                "{} are open at once at the most: try again later, or ask without Accept: {EVENT_STREAM}",
                self.limits.open
            );
            Problem::new(kind::TOO_MANY_LIVE_QUERIES, detail)
        })
    }
}
