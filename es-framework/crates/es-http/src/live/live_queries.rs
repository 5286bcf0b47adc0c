//! The open live queries and their settings.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::super::{Problem, problem::kind};

/// The media type of server-sent events.
pub(super) const EVENT_STREAM: &str = "text/event-stream";

/// The settings of live queries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LiveQuerySettings {
    /// The maximum number of live queries that are open at once.
    pub(crate) max_open: usize,
    /// The time without a new output after which the query runs again, because its output may depend
    /// on the time. If the output is the same, the client gets a comment as a heartbeat.
    pub(crate) heartbeat: Duration,
    /// The time in which further changes are gathered before the query runs again. A query that takes longer
    /// rests as long as it took.
    pub(crate) gather_window: Duration,
    /// The time for which a client waits while the read models lack events, because they are rebuilt or lag behind
    /// what the client saw. Then the stream ends, and the client reconnects.
    pub(crate) catch_up_time: Duration,
}

impl Default for LiveQuerySettings {
    fn default() -> Self {
        Self {
            max_open: 64,
            heartbeat: Duration::from_secs(15),
            gather_window: Duration::from_millis(25),
            catch_up_time: Duration::from_secs(60),
        }
    }
}

/// The live queries that clients have open, and their limits. Clones share them.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub struct LiveQueries {
    pub(super) settings: LiveQuerySettings,
    permits: Arc<Semaphore>,
    pub(super) shutdown: CancellationToken,
}

impl LiveQueries {
    /// Creates a registry without an open live query, in which at most so many are open at once.
    #[must_use]
    pub fn new(max_open: usize) -> Self {
        Self::with_settings(LiveQuerySettings {
            max_open,
            ..LiveQuerySettings::default()
        })
    }

    pub(crate) fn with_settings(settings: LiveQuerySettings) -> Self {
        Self {
            settings,
            permits: Arc::new(Semaphore::new(
                settings.max_open.min(Semaphore::MAX_PERMITS),
            )),
            shutdown: CancellationToken::new(),
        }
    }

    /// Closes all open live queries, and each one that opens later. Clients reconnect to another
    /// instance.
    pub fn end_streams(&self) {
        self.shutdown.cancel();
    }

    /// Returns the token that is cancelled when all streams have to end.
    #[must_use]
    pub fn shutdown_token(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Returns the maximum number of live queries that are open at once.
    pub(crate) const fn max_open(&self) -> usize {
        self.settings.max_open
    }

    /// Returns the number of open live queries.
    pub(crate) fn open_count(&self) -> f64 {
        let open = self
            .settings
            .max_open
            .saturating_sub(self.permits.available_permits());
        u32::try_from(open).map_or(f64::INFINITY, f64::from)
    }

    pub(super) fn try_acquire_permit(&self) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        permit.map_err(|_| {
            let detail = format!(
                "{} are open at once at the most: try again later, or ask without Accept: {EVENT_STREAM}",
                self.settings.max_open
            );
            Problem::new(kind::TOO_MANY_LIVE_QUERIES, detail)
        })
    }
}
