//! The sources of a query's events.

use std::sync::Arc;

use futures_util::stream::BoxStream;

use es_event::{EventType, Subject};
use es_store::{Bound, EventLog, EventStream, Order, ReadOptions, StoreError};

/// The largest set of events that a query needs, derived from its WHERE clause. A source may return
/// more events, because the query filters them again. The source has to respect the order.
///
/// ```
/// use es_eventql::ReadHint;
/// use es_store::Order;
///
/// assert_eq!(ReadHint::default().order, Order::Chronological);
/// assert!(ReadHint::default().subject.is_none()); // events of any subject
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadHint {
    /// Selects events of exactly this subject.
    pub subject: Option<Subject>,
    /// Selects events of this type.
    pub event_type: Option<EventType>,
    /// Selects events from this bound on.
    pub lower_bound: Option<Bound>,
    /// Selects events up to this bound.
    pub upper_bound: Option<Bound>,
    /// The order of the events by id.
    pub order: Order,
}

/// A source of events, subjects and event types for FROM clauses.
///
/// ```
/// use es_eventql::{ReadHint, EventSource};
/// use es_store::EventStream;
/// use futures_util::{StreamExt as _, stream};
///
/// /// A store without events.
/// struct Nothing;
///
/// impl EventSource for Nothing {
///     fn events(&self, _: ReadHint) -> EventStream {
///         stream::empty().boxed()
///     }
/// }
/// ```
pub trait EventSource: Send + Sync + 'static {
    /// Returns at least the events of the hint, in the hint's order.
    fn events(&self, hint: ReadHint) -> EventStream;

    /// Returns every subject that has events and all its ancestors, in alphabetical order. With
    /// `None`, the query derives them from the events.
    fn subjects(&self) -> Option<BoxStream<'static, Result<Subject, StoreError>>> {
        None
    }

    /// Returns every event type in alphabetical order. With `None`, the query derives them from the
    /// events.
    fn event_types(&self) -> Option<BoxStream<'static, Result<EventType, StoreError>>> {
        None
    }
}

impl EventSource for Arc<dyn EventLog> {
    fn events(&self, hint: ReadHint) -> EventStream {
        let options = ReadOptions {
            recursive: hint.subject.is_none(),
            order: hint.order,
            lower_bound: hint.lower_bound,
            upper_bound: hint.upper_bound,
            event_types: hint.event_type.into_iter().collect(),
            ..ReadOptions::default()
        };
        self.read(hint.subject.unwrap_or_else(Subject::root), options)
    }
}
