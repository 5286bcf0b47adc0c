//! Metrics about rebuilding states.

use std::sync::LazyLock;

use es_observe::metrics::{
    self as registry, RegisteredMetrics,
    catalogue::{STATE_LOOKUPS, STATE_REBUILD},
};
use metrics::{Counter, Histogram};

/// The starting point of a rebuild.
#[derive(Debug, Clone, Copy)]
pub(super) enum RebuildStart {
    /// The state in the cache of this process.
    Cache,
    /// A snapshot.
    Snapshot,
    /// The subject's first event.
    FirstEvent,
}

/// The metrics of one state type.
struct StateMetrics {
    from_cache: Counter,
    from_snapshot: Counter,
    from_first_event: Counter,
    events: Histogram,
}

static STATES: LazyLock<RegisteredMetrics<&'static str, StateMetrics>> =
    LazyLock::new(RegisteredMetrics::default);

fn register(state: &&'static str) -> StateMetrics {
    let lookups =
        |source| registry::counter(&STATE_LOOKUPS, &[("state", state), ("source", source)]);
    StateMetrics {
        from_cache: lookups("memory"),
        from_snapshot: lookups("snapshot"),
        from_first_event: lookups("events"),
        events: registry::histogram(&STATE_REBUILD, &[("state", state)]),
    }
}

/// Counts a rebuild of a state of this name by its starting point and the number of events that it read.
pub(super) fn count_rebuild(state: &'static str, start: RebuildStart, events: u32) {
    tracing::Span::current().record("events", events);
    STATES.record_or_register(state, register, |state| {
        let counter = match start {
            RebuildStart::Cache => &state.from_cache,
            RebuildStart::Snapshot => &state.from_snapshot,
            RebuildStart::FirstEvent => &state.from_first_event,
        };
        counter.increment(1);
        state.events.record(events);
    });
}
