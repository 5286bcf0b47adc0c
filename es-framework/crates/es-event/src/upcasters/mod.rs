//! The upcasters of an application.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::Arc};

use super::{
    DecodeError, EventCandidate, EventId, EventTime, EventType, EventView, Hash, RecordedEvent,
    UpcasterDescriptor,
};
use crate::{Declaration, DuplicateDeclaration, NamedKind, sort_by_unique_name};

/// All upcasters of an application. They convert stored events into the events that the application
/// declares today.
///
/// ```
/// use es_event::{Declaration, Event, Upcast, UpcasterDescriptor, Upcasters};
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookBoughtEvent {}
/// # impl Event for BookBoughtEvent {
/// #     const TYPE: &str = "com.example.library.BookBoughtEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct BookPurchasedEvent {}
/// # impl Event for BookPurchasedEvent {
/// #     const TYPE: &str = "com.example.library.BookPurchasedEvent";
/// #     const DECLARATION: Declaration = es_event::declaration!();
/// # }
///
/// impl Upcast for BookBoughtEvent {
///     type Output = BookPurchasedEvent;
///     const UPCASTER: Declaration = es_event::declaration!();
///
///     fn upcast(self) -> BookPurchasedEvent {
///         BookPurchasedEvent {}
///     }
/// }
///
/// let bought = UpcasterDescriptor::of::<BookBoughtEvent>();
/// assert!(Upcasters::new([bought]).is_ok());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Upcasters {
    /// Sorted by [`key`], so a binary search needs few comparisons.
    by_type: Arc<[UpcasterDescriptor]>,
}

/// The error for upcasters that contradict each other. Each variant names the places in the source.
///
/// ```
/// use es_event::{UpcastersError, declaration};
///
/// let bought = ("com.example.library.BookBoughtEvent", declaration!());
/// let error = UpcastersError::Cycle(vec![bought]);
/// assert!(error.to_string().starts_with("upcasters lead back to the event they start from"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpcastersError {
    /// One event has two upcasters.
    #[error(transparent)]
    Duplicate(#[from] DuplicateDeclaration),
    /// Upcasters form a cycle.
    #[error("upcasters lead back to the event they start from: {}: let the last one make an event of a new version, with #[event(version = …)]", steps(.0))]
    Cycle(Vec<(&'static str, Declaration)>),
}

fn steps(cycle: &[(&'static str, Declaration)]) -> String {
    let step = |(event_type, place): &(&str, Declaration)| format!("{event_type} (at {place})");
    let mut steps: Vec<_> = cycle.iter().map(step).collect();
    steps.extend(
        cycle
            .first()
            .map(|(event_type, _)| (*event_type).to_owned()),
    );
    steps.join(" -> ")
}

/// Sorting by length first avoids most string comparisons.
const fn key(event_type: &str) -> (usize, &str) {
    (event_type.len(), event_type)
}

impl Upcasters {
    /// Checks and sorts the upcasters.
    ///
    /// # Errors
    /// Fails as [`UpcastersError`] describes.
    pub fn new(
        upcasters: impl IntoIterator<Item = UpcasterDescriptor>,
    ) -> Result<Self, UpcastersError> {
        let name = |one: &UpcasterDescriptor| (one.from, one.declaration);
        let mut upcasters = sort_by_unique_name(NamedKind::Upcaster, upcasters, name)?;
        upcasters.sort_by_key(|one| key(one.from));
        let upcasters = Self {
            by_type: upcasters.into(),
        };
        upcasters.check_cycles()?;
        Ok(upcasters)
    }

    /// Calls `handle` with each event that a stored event represents today: the stored event
    /// itself, or the results of its upcasters.
    ///
    /// # Errors
    /// Fails if the stored event does not fit its declaration, or if `handle` fails.
    pub fn read<X: From<DecodeError>>(
        &self,
        recorded: &RecordedEvent,
        mut handle: impl FnMut(EventView<'_>) -> Result<(), X>,
    ) -> Result<(), X> {
        self.apply(EventView::from_recorded(recorded), &mut handle)
    }

    /// Proves that the events which upcasters make of a new event can be read. Most new events have no upcaster.
    ///
    /// # Errors
    /// Fails if the declaration of such an event cannot read what an upcaster returns.
    #[doc(hidden)]
    pub fn check_candidate(&self, candidate: &EventCandidate) -> Result<(), DecodeError> {
        if self.get(candidate.event_type.as_str()).is_none() {
            return Ok(());
        }
        let time = EventTime::now();
        let recorded = RecordedEvent::record(candidate.clone(), EventId::FIRST, time, Hash::ZERO);
        self.check_view(EventView::from_recorded(&recorded))
    }

    fn check_view(&self, view: EventView<'_>) -> Result<(), DecodeError> {
        let Some(upcaster) = self.get(view.event_type()) else {
            return Ok(());
        };
        for event in (upcaster.upcast)(view)? {
            let upcast = EventView::from_upcast(event.event_type, &event.payload, view.recorded());
            (event.check)(upcast)?;
            self.check_view(upcast)?;
        }
        Ok(())
    }

    /// Iterates over the upcasters, sorted by the event that they convert.
    pub fn iter(&self) -> impl Iterator<Item = &UpcasterDescriptor> {
        self.by_type.iter()
    }

    /// Adds the types of the stored events of which upcasters make events of these types.
    #[doc(hidden)]
    #[must_use]
    pub fn with_stored_types(
        &self,
        types: impl IntoIterator<Item = &'static str>,
    ) -> Vec<EventType> {
        let mut types: Vec<_> = types.into_iter().collect();
        let mut next = 0;
        while let Some(wanted) = types.get(next).copied() {
            let sources = self.iter().filter(|one| one.to.contains(&wanted));
            for from in sources.map(|one| one.from) {
                if !types.contains(&from) {
                    types.push(from);
                }
            }
            next = next.saturating_add(1);
        }
        types.sort_unstable();
        types.dedup();
        types.into_iter().map(EventType::declared).collect()
    }

    /// Returns the upcaster of this event type.
    #[must_use]
    pub fn get(&self, event_type: &str) -> Option<&UpcasterDescriptor> {
        let found = self
            .by_type
            .binary_search_by_key(&key(event_type), |one| key(one.from));
        found.ok().and_then(|index| self.by_type.get(index))
    }

    /// Applies upcasters until none is left. The recursion ends because the upcasters form no
    /// cycle.
    fn apply<X: From<DecodeError>, F: FnMut(EventView<'_>) -> Result<(), X>>(
        &self,
        view: EventView<'_>,
        handle: &mut F,
    ) -> Result<(), X> {
        let Some(upcaster) = self.get(view.event_type()) else {
            return handle(view);
        };
        for event in (upcaster.upcast)(view)? {
            let upcast = EventView::from_upcast(event.event_type, &event.payload, view.recorded());
            self.apply(upcast, handle)?;
        }
        Ok(())
    }

    fn check_cycles(&self) -> Result<(), UpcastersError> {
        let mut harmless = BTreeSet::new();
        for upcaster in self.iter() {
            self.check_cycle_from(upcaster, &mut vec![], &mut harmless)?;
        }
        Ok(())
    }

    /// Searches for a path from the upcaster back to one on the current path.
    fn check_cycle_from(
        &self,
        upcaster: &UpcasterDescriptor,
        path: &mut Vec<(&'static str, Declaration)>,
        harmless: &mut BTreeSet<&'static str>,
    ) -> Result<(), UpcastersError> {
        if let Some(start) = path.iter().position(|(from, _)| *from == upcaster.from) {
            return Err(UpcastersError::Cycle(path.split_off(start)));
        }
        if !harmless.insert(upcaster.from) {
            return Ok(());
        }
        path.push((upcaster.from, upcaster.declaration));
        for next in upcaster.to.iter().filter_map(|to| self.get(to)) {
            self.check_cycle_from(next, path, harmless)?;
        }
        path.pop();
        Ok(())
    }
}
