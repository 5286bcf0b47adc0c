//! The options of reads and subscriptions.

use std::num::NonZeroU64;

use es_event::{EventId, EventType, Subject};

/// The order of a read.
///
/// ```
/// use es_store::{Order, ReadOptions};
///
/// let newest = ReadOptions { order: Order::Antichronological, ..ReadOptions::recursive() }.first_only();
/// assert_ne!(newest.order, Order::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Oldest first.
    #[default]
    Chronological,
    /// Newest first.
    Antichronological,
}

impl Order {
    /// Returns the ids of a range that come after `id` in this order.
    pub fn remaining_range(self, range: IdRange, id: u64) -> Option<IdRange> {
        let IdRange { first, last } = range;
        let rest = match self {
            Self::Chronological => IdRange {
                first: id.checked_add(1)?,
                last,
            },
            Self::Antichronological => IdRange {
                first,
                last: id.checked_sub(1)?,
            },
        };
        (rest.first <= rest.last).then_some(rest)
    }
}

/// An end of a range of event ids.
///
/// ```
/// use es_event::EventId;
/// use es_store::{Bound, ReadOptions};
///
/// let seen = EventId::FIRST;
/// let unseen = ReadOptions { lower_bound: Some(Bound::Exclusive(seen)), ..ReadOptions::recursive() };
/// # assert!(unseen.check().is_ok());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// The event with this id belongs to the range.
    Inclusive(EventId),
    /// The event with this id does not belong to the range.
    Exclusive(EventId),
}

/// Starts at the latest event of a type on a subject, that event included.
///
/// ```
/// use es_store::{FromLatestEvent, IfEventIsMissing, ReadOptions};
///
/// let since_the_last_inventory = ReadOptions {
///     from_latest_event: Some(FromLatestEvent {
///         subject: "/inventory".parse()?,
///         event_type: "com.example.library.InventoryTakenEvent".parse()?,
///         if_missing: IfEventIsMissing::ReadEverything,
///     }),
///     ..ReadOptions::recursive()
/// };
/// assert!(since_the_last_inventory.check().is_ok());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromLatestEvent {
    /// The subject itself, not those below it.
    pub subject: Subject,
    /// The type.
    pub event_type: EventType,
    /// The behaviour if there is no such event.
    pub if_missing: IfEventIsMissing,
}

/// The behaviour if the event to start from does not exist.
///
/// ```
/// use es_store::{FromLatestEvent, IfEventIsMissing, ObserveOptions};
///
/// let once_there_is_an_inventory = ObserveOptions {
///     from_latest_event: Some(FromLatestEvent {
///         subject: "/inventory".parse()?,
///         event_type: "com.example.library.InventoryTakenEvent".parse()?,
///         if_missing: IfEventIsMissing::Nothing,
///     }),
///     ..ObserveOptions::recursive_after(None)
/// };
/// # assert!(once_there_is_an_inventory.recursive);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfEventIsMissing {
    /// Start from the first event.
    ReadEverything,
    /// Read: no events at all. Observe: start once such an event comes.
    Nothing,
}

/// The options of a read.
///
/// ```
/// use es_event::EventId;
/// use es_store::{Bound, Order, ReadOptions};
///
/// let newest_below_the_root_before_the_fifth = ReadOptions {
///     order: Order::Antichronological,
///     upper_bound: EventId::new(4).map(Bound::Exclusive),
///     ..ReadOptions::recursive()
/// };
/// assert!(newest_below_the_root_before_the_fifth.first_only().check().is_ok());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// True if the read includes the events of the subjects below.
    pub recursive: bool,
    /// Oldest or newest first.
    pub order: Order,
    /// The lowest id.
    pub lower_bound: Option<Bound>,
    /// The highest id.
    pub upper_bound: Option<Bound>,
    /// The event to start from, instead of a lowest id.
    pub from_latest_event: Option<FromLatestEvent>,
    /// The types of the events; empty for any.
    pub event_types: Vec<EventType>,
    /// The highest number of events. The read ends after that many, in its order.
    pub limit: Option<NonZeroU64>,
}

/// The options of a subscription.
///
/// ```
/// use es_event::EventId;
/// use es_store::{Bound, ObserveOptions};
///
/// let after_the_first = ObserveOptions::recursive_after(Some(EventId::FIRST));
/// assert_eq!(after_the_first.lower_bound, Some(Bound::Exclusive(EventId::FIRST)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObserveOptions {
    /// True if the read includes the events of the subjects below.
    pub recursive: bool,
    /// The lowest id.
    pub lower_bound: Option<Bound>,
    /// The event to start from, instead of a lowest id.
    pub from_latest_event: Option<FromLatestEvent>,
}

/// The error for options that contradict each other.
///
/// ```
/// use es_event::EventId;
/// use es_store::*;
///
/// let contradictory = ReadOptions {
///     lower_bound: Some(Bound::Inclusive(EventId::FIRST)),
///     from_latest_event: Some(FromLatestEvent {
///         subject: "/inventory".parse()?,
///         event_type: "com.example.library.InventoryTakenEvent".parse()?,
///         if_missing: IfEventIsMissing::Nothing,
///     }),
///     ..ReadOptions::recursive()
/// };
/// assert_eq!(contradictory.check(), Err(InvalidOptions));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid options: lowerBound and fromLatestEvent cannot be given together")]
pub struct InvalidOptions;

impl ReadOptions {
    /// Reads a subject and everything below it, oldest first.
    #[must_use]
    pub fn recursive() -> Self {
        Self {
            recursive: true,
            ..Self::default()
        }
    }

    /// Limits the options to the first event.
    #[must_use]
    pub fn first_only(self) -> Self {
        let limit = Some(NonZeroU64::MIN);
        Self { limit, ..self }
    }

    /// Checks that the options do not contradict each other.
    ///
    /// # Errors
    /// The options contain two starts.
    pub const fn check(&self) -> Result<(), InvalidOptions> {
        one_start(self.lower_bound, self.from_latest_event.as_ref())
    }
}

impl ObserveOptions {
    /// Observes a subject and everything below it, from the event after `last`, or from the first.
    #[must_use]
    pub fn recursive_after(last: Option<EventId>) -> Self {
        Self {
            recursive: true,
            lower_bound: last.map(Bound::Exclusive),
            ..Self::default()
        }
    }

    /// Checks that the options do not contradict each other.
    ///
    /// # Errors
    /// The options contain two starts.
    pub const fn check(&self) -> Result<(), InvalidOptions> {
        one_start(self.lower_bound, self.from_latest_event.as_ref())
    }
}

const fn one_start(
    lower_bound: Option<Bound>,
    latest: Option<&FromLatestEvent>,
) -> Result<(), InvalidOptions> {
    if lower_bound.is_some() && latest.is_some() {
        return Err(InvalidOptions);
    }
    Ok(())
}

/// A range of event ids, both ends included. Empty when `first` lies above `last`.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRange {
    /// The first id.
    pub first: u64,
    /// The last id.
    pub last: u64,
}

impl IdRange {
    /// Returns true if the range has room for no event.
    pub const fn is_empty(&self) -> bool {
        self.first > self.last
    }

    /// Returns the ids between two bounds.
    pub const fn from_bounds(lower: Option<Bound>, upper: Option<Bound>) -> Self {
        let first = match lower {
            None => 0,
            Some(Bound::Inclusive(id)) => id.get(),
            Some(Bound::Exclusive(id)) => id.get().saturating_add(1),
        };
        match upper {
            None => Self {
                first,
                last: EventId::MAX,
            },
            Some(Bound::Inclusive(id)) => Self {
                first,
                last: id.get(),
            },
            Some(Bound::Exclusive(id)) => match id.get().checked_sub(1) {
                Some(last) => Self { first, last },
                None => Self { first: 1, last: 0 },
            },
        }
    }
}
