//! Searches events with bounded work: a page ends when it is full, when enough events were
//! read, or when its time is over.

use std::{
    num::NonZeroU64,
    ops::Range,
    time::{Duration, Instant},
};

use es_event::{EventId, Subject};
use es_store::{Bound, EventLog, Order, ReadOptions, StoreError, event_with_id, newest_id};
use futures_util::TryStreamExt as _;
use jiff::Timestamp;

use crate::{event_filter::EventFilter, event_preview::EventPreview};

/// The number of events that one search reads at most.
pub(crate) const SEARCHED_EVENTS: u64 = 10_000;
/// Time after which a search ends.
pub(crate) const SEARCH_TIME: Duration = Duration::from_secs(2);

/// The ids between which a search reads, both excluded.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SearchRange {
    pub(crate) after: Option<EventId>,
    pub(crate) before: Option<EventId>,
}

/// The most events that a search returns, and the number of tokens of each event's data.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreviewLimits {
    pub(crate) events: usize,
    pub(crate) tokens: usize,
}

/// The events that a search found, newest first.
#[derive(Debug, Default)]
pub(crate) struct FoundEvents {
    pub(crate) events: Vec<EventPreview>,
    /// The number of events that were read.
    pub(crate) searched: u64,
    /// The event before which the next search continues, unless the search reached its end.
    pub(crate) next: Option<EventId>,
}

/// Returns the newest events of a range that the filter selects, within the limits. Memory never holds more than
/// one chunk of whole events.
pub(crate) async fn search(
    store: &dyn EventLog,
    filter: &EventFilter,
    range: SearchRange,
    limits: PreviewLimits,
) -> Result<FoundEvents, StoreError> {
    let Some(range) = within_times(store, filter, range).await? else {
        return Ok(FoundEvents::default());
    };
    let begin = Instant::now();
    let subject = filter.subject.clone().unwrap_or_else(Subject::root);
    let options = read_options(filter, range, limits.events);
    let limit = options.limit.map_or(SEARCHED_EVENTS, NonZeroU64::get);
    let mut events = store.read(subject, options);
    let mut found = FoundEvents::default();
    while let Some(event) = events.try_next().await? {
        found.searched = found.searched.saturating_add(1);
        let id = event.id;
        if filter.matches_event(&event) {
            found.events.push(EventPreview::new(&event, limits.tokens));
        }
        let is_full = found.events.len() >= limits.events;
        if is_full || found.searched >= limit || begin.elapsed() > SEARCH_TIME {
            found.next = Some(id).filter(|id| *id > EventId::FIRST);
            break;
        }
    }
    Ok(found)
}

fn read_options(filter: &EventFilter, range: SearchRange, most: usize) -> ReadOptions {
    let most = if filter.needs_search() {
        SEARCHED_EVENTS
    } else {
        u64::try_from(most).unwrap_or(SEARCHED_EVENTS)
    };
    ReadOptions {
        recursive: !filter.exact || filter.subject.is_none(),
        order: Order::Antichronological,
        lower_bound: range.after.map(Bound::Exclusive),
        upper_bound: range.before.map(Bound::Exclusive),
        event_types: filter.event_type.clone().into_iter().collect(),
        limit: NonZeroU64::new(most),
        ..ReadOptions::default()
    }
}

/// Narrows a range to the events between the times of a filter. Returns `None` if there are none.
async fn within_times(
    store: &dyn EventLog,
    filter: &EventFilter,
    range: SearchRange,
) -> Result<Option<SearchRange>, StoreError> {
    let SearchRange {
        mut after,
        mut before,
    } = range;
    if filter.from.is_none() && filter.to.is_none() {
        return Ok(Some(range));
    }
    let Some(newest) = newest_id(store).await? else {
        return Ok(None);
    };
    let end = EventId::count_to(Some(newest));
    if let Some(from) = filter.from {
        let first = first_event_where(store, 0..end, |time| time >= from).await?;
        if first >= end {
            return Ok(None);
        }
        // The event before it is excluded.
        after = after.max(first.checked_sub(1).and_then(EventId::new));
    }
    if let Some(to) = filter.to {
        let later = first_event_where(store, 0..end, |time| time > to).await?;
        if let Some(later) = EventId::new(later).filter(|_| later < end) {
            before = Some(before.map_or(later, |before| before.min(later)));
        }
    }
    Ok(Some(SearchRange { after, before }))
}

/// Returns the number of the first event in a range whose time meets a condition that all later times meet, too;
/// the end of the range if there is none. Times of events never go back, so a binary search finds it. The search
/// begins at the end, in growing steps, because most searches are for recent times.
pub(crate) async fn first_event_where(
    store: &dyn EventLog,
    range: Range<u64>,
    is_met: impl Fn(Timestamp) -> bool,
) -> Result<u64, StoreError> {
    let (mut low, mut high) = (range.start, range.end);
    let mut step = 1;
    while low < high {
        let middle = low.midpoint(high).max(high.saturating_sub(step));
        let event = match EventId::new(middle) {
            Some(id) => event_with_id(store, id).await?,
            None => None,
        };
        let time = event.and_then(|event| event.time.timestamp().ok());
        if time.is_some_and(&is_met) {
            high = middle;
            step = step.saturating_mul(2);
        } else {
            low = middle.saturating_add(1);
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use es_event::EventCandidate;
    use es_store::memory::MemoryStore;
    use serde_json::value::RawValue;

    use super::*;

    /// The number of events.
    const EVENTS: u64 = 300;

    async fn filled_store() -> (MemoryStore, Vec<Timestamp>) {
        let store = MemoryStore::new();
        let mut times = Vec::new();
        for _ in 0..EVENTS {
            let candidate = EventCandidate {
                source: "test".into(),
                subject: "/a".parse().unwrap(),
                event_type: "io.example.happened".parse().unwrap(),
                data: RawValue::from_string("{}".to_owned()).unwrap(),
                trace: None,
            };
            let events = store.append(vec![candidate], Vec::new()).await.unwrap();
            times.extend(events.iter().map(|event| event.time.timestamp().unwrap()));
        }
        (store, times)
    }

    #[tokio::test]
    async fn each_time_is_found_in_a_few_reads_for_its_distance_from_the_end() {
        let (store, times) = filled_store().await;
        for (from, number) in times.iter().zip(0..) {
            let expected = times.partition_point(|time| time < from);
            let reads = Cell::new(0_u32);
            let found = first_event_where(&store, 0..EVENTS, |time| {
                reads.set(reads.get() + 1);
                time >= *from
            });
            assert_eq!(found.await.unwrap(), u64::try_from(expected).unwrap());
            let distance: u64 = EVENTS - number;
            let most = 2 * (distance.ilog2() + 2);
            assert!(reads.get() <= most, "{distance}: {}", reads.get());
        }
        let none = first_event_where(&store, 0..EVENTS, |_| false);
        assert_eq!(none.await.unwrap(), EVENTS);
    }
}
