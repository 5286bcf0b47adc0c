//! How much is read to rebuild states.

use std::sync::LazyLock;

use metrics::{Counter, Histogram};

use super::Evolve;
use crate::metrics::{self as registry, MetricHandles, STATE_LOOKUPS, STATE_REBUILD};

/// What was known of a state before its events were read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Found {
    /// The state as this process remembered it.
    Memory,
    /// A snapshot.
    Snapshot,
    /// Nothing: all of its events are read.
    Nothing,
}

impl Found {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Memory, "memory"),
        (Self::Snapshot, "snapshot"),
        (Self::Nothing, "events"),
    ];
}

struct Measured {
    lookups: [Counter; 3],
    events: Histogram,
}

static STATES: LazyLock<MetricHandles<&'static str, Measured>> =
    LazyLock::new(MetricHandles::default);

fn register(state: &&'static str) -> Measured {
    let lookup =
        |(_, found)| registry::counter(&STATE_LOOKUPS, &[("state", state), ("source", found)]);
    Measured {
        lookups: Found::ALL.map(lookup),
        events: registry::histogram(&STATE_REBUILD, &[("state", state)]),
    }
}

/// Notes what was known of a state.
pub(super) fn found<S: Evolve>(found: Found) {
    STATES.with(S::NAME, register, |state| {
        let [memory, snapshot, nothing] = &state.lookups;
        let counter = match found {
            Found::Memory => memory,
            Found::Snapshot => snapshot,
            Found::Nothing => nothing,
        };
        counter.increment(1);
    });
}

/// Notes how many events were read.
pub(super) fn rebuilt<S: Evolve>(events: u32) {
    tracing::Span::current().record("events", events);
    STATES.with(S::NAME, register, |state| state.events.record(events));
}
