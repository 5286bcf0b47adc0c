//! The part of a query that the store applies while it reads the events.

use es_event::{EventType, Subject};
use es_store::{Bound, EventLog, EventStream, Order, ReadOptions};

/// The largest set of events that a query needs, derived from its WHERE clause. The query filters them again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReadHint {
    /// Selects events of exactly this subject.
    pub(super) subject: Option<Subject>,
    /// Selects events of this type.
    pub(super) event_type: Option<EventType>,
    /// Selects events from this bound on.
    pub(super) lower_bound: Option<Bound>,
    /// Selects events up to this bound.
    pub(super) upper_bound: Option<Bound>,
    /// The order of the events by id.
    pub(super) order: Order,
}

impl ReadHint {
    /// Reads the events of the hint, in its order.
    pub(super) fn read_events(self, log: &dyn EventLog) -> EventStream {
        let options = ReadOptions {
            recursive: self.subject.is_none(),
            order: self.order,
            lower_bound: self.lower_bound,
            upper_bound: self.upper_bound,
            event_types: self.event_type.into_iter().collect(),
            ..ReadOptions::default()
        };
        log.read(self.subject.unwrap_or_else(Subject::root), options)
    }
}
