//! The newest events in memory. Subscribers that have caught up read them instead of the disk.

use std::{collections::VecDeque, sync::Arc};

use es_event::RecordedEvent;
use es_store::options::IdRange;

/// The events of one commit.
pub(super) type CommittedEvents = Arc<[RecordedEvent]>;

/// The newest events, without a gap up to the last one.
#[derive(Debug, Default)]
pub(super) struct RecentEvents {
    commits: VecDeque<CommittedEvents>,
    events: usize,
    bytes: usize,
}

/// The limits of the newest events.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecentLimits {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

impl RecentEvents {
    /// Adds the events of a commit and returns the oldest commits beyond the limits, so that the
    /// caller can free them after the lock is released.
    pub(super) fn push_commit(
        &mut self,
        commit: CommittedEvents,
        limits: RecentLimits,
    ) -> Vec<CommittedEvents> {
        let Some(first) = commit.first() else {
            return Vec::new();
        };
        let mut evicted = Vec::new();
        if self.end().is_some_and(|end| end != first.id.get()) {
            evicted.extend(std::mem::take(self).commits);
        }
        self.events = self.events.saturating_add(commit.len());
        self.bytes = self.bytes.saturating_add(estimate_size(&commit));
        self.commits.push_back(commit);
        while self.events > limits.events || self.bytes > limits.bytes {
            let Some(oldest) = self.commits.pop_front() else {
                break;
            };
            self.events = self.events.saturating_sub(oldest.len());
            self.bytes = self.bytes.saturating_sub(estimate_size(&oldest));
            evicted.push(oldest);
        }
        evicted
    }

    /// Returns the commits that hold the first `count` events of a range, if the first of these events is in
    /// memory.
    pub(super) fn commits_covering(
        &self,
        range: IdRange,
        count: usize,
    ) -> Option<Vec<CommittedEvents>> {
        let first = self.commits.front()?.first()?.id.get();
        if range.first < first || range.first >= self.end()? {
            return None;
        }
        let ends_before = |commit: &CommittedEvents| {
            let last = commit.last().map(|event| event.id.get());
            last < Some(range.first)
        };
        let from = self.commits.partition_point(ends_before);
        let mut left = count;
        let wanted = |commit: &&CommittedEvents| {
            let begins_within = commit
                .first()
                .is_some_and(|event| event.id.get() <= range.last);
            let is_wanted = left > 0 && begins_within;
            let from = commit.partition_point(|event| event.id.get() < range.first);
            left = left.saturating_sub(commit.len().saturating_sub(from));
            is_wanted
        };
        let commits = self.commits.range(from..).take_while(wanted);
        Some(commits.cloned().collect())
    }

    /// Returns the id after the last event.
    fn end(&self) -> Option<u64> {
        let last = self.commits.back()?.last()?;
        last.id.get().checked_add(1)
    }
}

/// Returns about how many bytes events take.
pub(super) fn estimate_size(commit: &[RecordedEvent]) -> usize {
    let text = |event: &RecordedEvent| {
        let subject = event.subject.as_str().len();
        event.data.get().len().saturating_add(subject)
    };
    let texts = commit.iter().map(text).fold(0, usize::saturating_add);
    texts.saturating_add(size_of_val(commit))
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use es_event::{EventCandidate, EventId, EventTime, Hash};

    const LIMITS: RecentLimits = RecentLimits {
        events: 5,
        bytes: 1 << 20,
    };

    fn event(id: u64) -> RecordedEvent {
        let candidate = EventCandidate {
            source: "library-service".into(),
            subject: "/books/42".parse().unwrap(),
            event_type: "com.example.library.BookPurchasedEvent".parse().unwrap(),
            data: RawValue::from_string("{}".into()).unwrap(),
            trace: None,
        };
        let id = EventId::new(id).unwrap();
        RecordedEvent::record(candidate, id, EventTime::now(), Hash::ZERO)
    }

    fn recent(commits: &[std::ops::Range<u64>]) -> RecentEvents {
        let mut recent = RecentEvents::default();
        for ids in commits {
            drop(recent.push_commit(ids.clone().map(event).collect(), LIMITS));
        }
        recent
    }

    fn ids(recent: &RecentEvents, first: u64, last: u64, count: usize) -> Option<Vec<u64>> {
        let commits = recent.commits_covering(IdRange { first, last }, count)?;
        let events = commits.iter().flat_map(|commit| commit.iter());
        Some(events.map(|event| event.id.get()).collect())
    }

    #[test]
    fn the_commits_from_an_event_on_are_found() {
        let recent = recent(&[0..1, 1..3, 3..4]);
        assert_eq!(ids(&recent, 0, 9, 9), Some(vec![0, 1, 2, 3]));
        assert_eq!(ids(&recent, 2, 9, 9), Some(vec![1, 2, 3]));
        assert_eq!(ids(&recent, 2, 2, 9), Some(vec![1, 2]));
        assert_eq!(ids(&recent, 3, 9, 9), Some(vec![3]));
    }

    #[test]
    fn no_more_commits_are_found_than_hold_what_is_wanted() {
        let recent = recent(&[0..1, 1..3, 3..4]);
        assert_eq!(ids(&recent, 0, 9, 1), Some(vec![0]));
        assert_eq!(ids(&recent, 1, 9, 2), Some(vec![1, 2]));
        assert_eq!(ids(&recent, 2, 9, 2), Some(vec![1, 2, 3]));
    }

    #[test]
    fn what_is_to_come_is_not_there() {
        assert_eq!(ids(&recent(&[0..1, 1..2]), 2, 9, 9), None);
        assert_eq!(ids(&RecentEvents::default(), 0, 9, 9), None);
    }

    #[test]
    fn the_oldest_commits_make_room() {
        let recent = recent(&[0..2, 2..4, 4..7]);
        assert_eq!(ids(&recent, 1, 9, 9), None);
        assert_eq!(ids(&recent, 2, 9, 9), Some(vec![2, 3, 4, 5, 6]));
        assert_eq!(recent.events, 5);
    }

    #[test]
    fn a_commit_larger_than_the_limit_is_not_kept() {
        let recent = recent(&[0..2, 2..9]);
        assert_eq!(ids(&recent, 2, 9, 9), None);
        assert_eq!((recent.events, recent.bytes), (0, 0));
    }

    #[test]
    fn a_gap_forgets_what_is_before_it() {
        let recent = recent(&[0..2, 3..4]);
        assert_eq!(ids(&recent, 1, 9, 9), None);
        assert_eq!(ids(&recent, 3, 9, 9), Some(vec![3]));
    }
}
