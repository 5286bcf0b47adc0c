//! The metrics of event stores.

use std::{sync::LazyLock, time::Duration};

use es_store::{StoreMeter, install_meter};
use metrics::{Counter, Histogram};

use super::{
    catalogue::{
        STORE_COMMIT_APPENDS, STORE_COMMIT_DURATION, STORE_COMMIT_EVENTS, SUBSCRIPTION_RECONNECTS,
    },
    counter, histogram,
};

/// The metrics of all event stores of this program.
struct StoreMetrics {
    duration: Histogram,
    events: Histogram,
    appends: Histogram,
    reconnects: Counter,
}

static STORES: LazyLock<StoreMetrics> = LazyLock::new(|| StoreMetrics {
    duration: histogram(&STORE_COMMIT_DURATION, &[]),
    events: histogram(&STORE_COMMIT_EVENTS, &[]),
    appends: histogram(&STORE_COMMIT_APPENDS, &[]),
    reconnects: counter(&SUBSCRIPTION_RECONNECTS, &[]),
});

impl StoreMeter for StoreMetrics {
    fn record_commit(&self, duration: Duration, events: usize, appends: usize) {
        // More than 2^32 events do not fit into one batch.
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        self.duration.record(duration);
        self.events.record(number(events));
        self.appends.record(number(appends));
    }

    fn record_reconnect(&self) {
        self.reconnects.increment(1);
    }
}

/// Measures the event stores of this program.
#[doc(hidden)]
pub fn measure_stores() {
    install_meter(&*STORES);
}
