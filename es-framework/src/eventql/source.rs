//! Where a query's events come from.

use std::sync::Arc;

use futures_util::stream::BoxStream;

use crate::{
    event::{EventType, Subject},
    store::{Bound, EventStore, EventStream, Order, ReadOptions, StoreError},
};

/// Which events a query needs at the most, as far as its WHERE says so. A source may give more
/// events than these: the query sorts them out. The order is no hint but an order.
///
/// ```
/// use es_framework::{eventql::Hint, store::Order};
///
/// assert_eq!(Hint::default().order, Order::Chronological);
/// assert!(Hint::default().subject.is_none()); // events of any subject
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hint {
    /// Events of this very subject.
    pub subject: Option<Subject>,
    /// Events of this type.
    pub event_type: Option<EventType>,
    /// Events with this id or a higher one.
    pub lower_bound: Option<Bound>,
    /// Events with this id or a lower one.
    pub upper_bound: Option<Bound>,
    /// Oldest or newest first, by id.
    pub order: Order,
}

/// Gives a query what its FROM clauses name.
///
/// ```
/// use es_framework::{eventql::{Hint, Source}, store::EventStream};
/// use futures_util::{StreamExt as _, stream};
///
/// /// A store without events.
/// struct Nothing;
///
/// impl Source for Nothing {
///     fn events(&self, _: Hint) -> EventStream {
///         stream::empty().boxed()
///     }
/// }
/// ```
pub trait Source: Send + Sync + 'static {
    /// The stored events, at least those of the hint, in its order.
    fn events(&self, hint: Hint) -> EventStream;

    /// Every subject that has events and those above it, in the order of the alphabet. `None`: the
    /// query derives them from the events.
    fn subjects(&self) -> Option<BoxStream<'static, Result<Subject, StoreError>>> {
        None
    }

    /// Every type of event, in the order of the alphabet. `None`: the query derives them from the
    /// events.
    fn event_types(&self) -> Option<BoxStream<'static, Result<EventType, StoreError>>> {
        None
    }
}

impl Source for Arc<dyn EventStore> {
    fn events(&self, hint: Hint) -> EventStream {
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
