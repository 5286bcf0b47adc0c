//! The measurements of event stores, for the metrics of the program that opens them.

use std::{sync::OnceLock, time::Duration};

/// Receives the measurements of all event stores of a program.
pub trait StoreMeter: Send + Sync {
    /// Records the time of a commit and the sizes of its batch.
    fn record_commit(&self, duration: Duration, events: usize, appends: usize);

    /// Records that a subscription lost its server and connects again.
    fn record_reconnect(&self);
}

static METER: OnceLock<&'static dyn StoreMeter> = OnceLock::new();

/// Sends the measurements of all event stores to a meter. A program has one.
pub fn install_meter(meter: &'static dyn StoreMeter) {
    let _ = METER.set(meter);
}

/// Measures something, if the program has a meter.
pub fn measure(record: impl FnOnce(&dyn StoreMeter)) {
    if let Some(meter) = METER.get() {
        record(*meter);
    }
}
