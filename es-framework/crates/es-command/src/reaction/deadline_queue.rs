//! The queue of open deadlines. The next ones are in memory. The others are read again from the event
//! store when the queue is empty.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use es_event::{EventId, Subject};

/// The highest number of deadlines in memory.
const CAPACITY: usize = 100_000;

/// A deadline that was neither met nor cancelled. Deadlines are ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct OpenDeadline {
    pub(super) at: Timestamp,
    /// The event that sets the deadline.
    pub(super) event: EventId,
    pub(super) step: usize,
    /// The index of the event among those that upcasters made of the stored one.
    pub(super) view: usize,
}

/// The open deadlines of a reaction.
#[derive(Debug)]
pub(super) struct DeadlineQueue {
    by_time: BTreeMap<OpenDeadline, Subject>,
    by_subject: HashMap<Subject, Vec<OpenDeadline>>,
    /// The next times of the schedules. They follow from no event that is read again.
    scheduled: BTreeMap<OpenDeadline, Subject>,
    capacity: usize,
    /// The bounds of the deadlines that are not in memory.
    unloaded: Option<UnloadedDeadlines>,
}

/// The bounds of the deadlines that are not in memory.
#[derive(Debug, Clone, Copy)]
struct UnloadedDeadlines {
    /// The earliest time of a missing deadline.
    first: Timestamp,
    /// The first event that sets a missing deadline.
    oldest: EventId,
}

impl Default for DeadlineQueue {
    fn default() -> Self {
        Self::with_capacity(CAPACITY)
    }
}

impl DeadlineQueue {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            by_time: BTreeMap::new(),
            by_subject: HashMap::new(),
            scheduled: BTreeMap::new(),
            capacity,
            unloaded: None,
        }
    }

    /// Adds a deadline.
    pub(super) fn insert(&mut self, due: OpenDeadline, subject: &Subject) {
        if self
            .unloaded
            .is_some_and(|unloaded| due.at >= unloaded.first)
        {
            self.extend_overflow(due);
            return;
        }
        self.by_time.insert(due, subject.clone());
        let of_subject = self.by_subject.entry(subject.clone()).or_default();
        of_subject.push(due);
        if self.by_time.len() > self.capacity
            && let Some((last, _)) = self.by_time.last_key_value()
        {
            let last = *last;
            self.remove(last);
            self.extend_overflow(last);
        }
    }

    /// Adds the next time of a schedule.
    pub(super) fn insert_scheduled(&mut self, due: OpenDeadline, subject: &Subject) {
        self.scheduled.insert(due, subject.clone());
    }

    /// Removes all deadlines that are read again from the event store.
    pub(super) fn clear_loaded(&mut self) {
        self.by_time.clear();
        self.by_subject.clear();
        self.unloaded = None;
    }

    fn extend_overflow(&mut self, due: OpenDeadline) {
        let before = self.unloaded.unwrap_or(UnloadedDeadlines {
            first: due.at,
            oldest: due.event,
        });
        self.unloaded = Some(UnloadedDeadlines {
            first: before.first.min(due.at),
            oldest: before.oldest.min(due.event),
        });
    }

    /// Removes a deadline that was met or cancelled.
    pub(super) fn remove(&mut self, due: OpenDeadline) {
        let Some(subject) = self.by_time.remove(&due) else {
            self.scheduled.remove(&due);
            return;
        };
        if let Some(of_subject) = self.by_subject.get_mut(&subject) {
            of_subject.retain(|open| *open != due);
            if of_subject.is_empty() {
                self.by_subject.remove(&subject);
            }
        }
    }

    /// Removes the deadlines of a step on a subject.
    pub(super) fn cancel(&mut self, subject: &Subject, step: usize) {
        self.remove_of_subject(subject, |due| due.step == step);
    }

    /// Returns the deadlines of a subject in memory.
    fn open_of(&self, subject: &Subject) -> impl Iterator<Item = &OpenDeadline> {
        let of_subject = self.by_subject.get(subject).into_iter().flatten();
        let scheduled = self.scheduled.iter().filter(move |(_, of)| *of == subject);
        of_subject.chain(scheduled.map(|(due, _)| due))
    }

    /// Removes the deadlines of a subject that match a condition.
    pub(super) fn remove_of_subject(
        &mut self,
        subject: &Subject,
        is_over: impl Fn(&OpenDeadline) -> bool,
    ) {
        let open: Vec<_> = self.open_of(subject).copied().collect();
        for due in open.into_iter().filter(is_over) {
            self.remove(due);
        }
    }

    /// Returns the next deadline of a subject that is not later than a time.
    pub(super) fn find_due_of(&self, subject: &Subject, until: Timestamp) -> Option<OpenDeadline> {
        let open = self.open_of(subject);
        open.filter(|due| due.at <= until).min().copied()
    }

    /// Returns the subject of a deadline.
    pub(super) fn find_subject(&self, due: OpenDeadline) -> Option<&Subject> {
        let loaded = self.by_time.get(&due);
        loaded.or_else(|| self.scheduled.get(&due))
    }

    /// Returns the first event that may have set a deadline of a subject, if there is one.
    pub(super) fn first_open_event_of(&self, subject: &Subject) -> Option<EventId> {
        let open = self.by_subject.get(subject).into_iter().flatten();
        let open = open.map(|due| due.event);
        open.chain(self.unloaded.map(|unloaded| unloaded.oldest))
            .min()
    }

    /// Returns the next deadline that is not in the future and whose subject is not busy.
    pub(super) fn find_due(
        &self,
        now: Timestamp,
        is_busy: impl Fn(&Subject) -> bool,
    ) -> Option<OpenDeadline> {
        let find = |queue: &BTreeMap<OpenDeadline, Subject>| {
            let mut due = queue.iter().take_while(|(due, _)| due.at <= now);
            due.find(|(_, subject)| !is_busy(subject))
                .map(|(due, _)| *due)
        };
        let found = [find(&self.by_time), find(&self.scheduled)];
        found.into_iter().flatten().min()
    }

    /// Returns the next deadline in memory.
    fn first(&self) -> Option<OpenDeadline> {
        let loaded = self.by_time.keys().next();
        loaded
            .into_iter()
            .chain(self.scheduled.keys().next())
            .min()
            .copied()
    }

    /// Returns the time of the next deadline in memory.
    pub(super) fn next_time(&self) -> Option<Timestamp> {
        self.first().map(|due| due.at)
    }

    /// Returns the number of deadlines in memory.
    pub(super) fn len(&self) -> usize {
        self.by_time.len().saturating_add(self.scheduled.len())
    }

    /// Returns whether the missing deadlines have to be loaded.
    pub(super) fn needs_reload(&self) -> bool {
        self.by_time.is_empty() && self.unloaded.is_some()
    }

    /// Returns the first event with an open deadline. A start finds the schedules without it.
    pub(super) fn first_open_event(&self) -> Option<EventId> {
        let open = self.by_time.keys().map(|due| due.event);
        open.chain(self.unloaded.map(|unloaded| unloaded.oldest))
            .min()
    }

    /// Returns the time up to which every deadline was met or cancelled. For the nanosecond after it,
    /// this holds for the deadlines of events before the returned event.
    pub(super) fn settled_until(&self, now: Timestamp) -> (Timestamp, Option<EventId>) {
        let next = self.first().map(|due| (due.at, Some(due.event)));
        let unloaded = self.unloaded.map(|unloaded| (unloaded.first, None));
        let is_first = |unloaded: &(Timestamp, _)| next.is_none_or(|(at, _)| unloaded.0 < at);
        let next = unloaded.filter(is_first).or(next);
        let before = next.map(|(at, event)| {
            let nanosecond = jiff::SignedDuration::from_nanos(1);
            (
                at.saturating_sub(nanosecond).unwrap_or(Timestamp::MIN),
                event,
            )
        });
        before
            .filter(|(before, _)| *before <= now)
            .unwrap_or((now, None))
    }

    /// Returns the next times of the schedules.
    pub(super) fn scheduled(&self) -> impl Iterator<Item = &OpenDeadline> {
        self.scheduled.keys()
    }

    /// Removes and returns the times of schedules that match a condition.
    pub(super) fn take_scheduled(
        &mut self,
        is_over: impl Fn(&OpenDeadline, &Subject) -> bool,
    ) -> Vec<(OpenDeadline, Subject)> {
        let over = self
            .scheduled
            .extract_if(.., |due, subject| is_over(due, subject));
        over.collect()
    }

    /// Removes the deadlines until a time that match a condition.
    pub(super) fn remove_until(
        &mut self,
        last: Timestamp,
        is_over: impl Fn(&OpenDeadline, &Subject) -> bool,
    ) {
        let until = self.by_time.iter().take_while(|(due, _)| due.at <= last);
        let over = until.filter(|(due, subject)| is_over(due, subject));
        let over: Vec<_> = over.map(|(due, _)| *due).collect();
        over.into_iter().for_each(|due| self.remove(due));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(second: i64, event: u64) -> OpenDeadline {
        OpenDeadline {
            at: Timestamp::new(second, 0).unwrap(),
            event: EventId::new(event).unwrap(),
            step: 0,
            view: 0,
        }
    }

    fn subject(name: &str) -> Subject {
        format!("/books/{name}").parse().unwrap()
    }

    #[test]
    fn deadlines_are_due_in_the_order_of_their_times() {
        let mut deadlines = DeadlineQueue::default();
        deadlines.insert(due(20, 1), &subject("a"));
        deadlines.insert(due(10, 2), &subject("b"));
        assert_eq!(deadlines.find_due(due(9, 0).at, |_| false), None);
        assert_eq!(
            deadlines.find_due(due(30, 0).at, |_| false),
            Some(due(10, 2))
        );
        deadlines.remove(due(10, 2));
        assert_eq!(
            deadlines.find_due(due(30, 0).at, |_| false),
            Some(due(20, 1))
        );
        assert_eq!(deadlines.first_open_event(), EventId::new(1));
    }

    #[test]
    fn a_step_is_cancelled_on_its_subject_alone() {
        let mut deadlines = DeadlineQueue::default();
        let other_step = OpenDeadline {
            step: 1,
            ..due(10, 1)
        };
        deadlines.insert(due(10, 1), &subject("a"));
        deadlines.insert(other_step, &subject("a"));
        deadlines.insert(due(10, 2), &subject("b"));
        deadlines.cancel(&subject("a"), 0);
        assert_eq!(deadlines.len(), 2);
        assert_eq!(
            deadlines.find_due(due(10, 0).at, |_| false),
            Some(other_step)
        );
    }

    #[test]
    fn what_does_not_fit_is_the_latest_and_is_known_to_lack() {
        let mut deadlines = DeadlineQueue::with_capacity(2);
        for (second, event) in [(30, 1), (10, 2), (20, 3), (40, 4)] {
            deadlines.insert(due(second, event), &subject("a"));
        }
        assert_eq!(
            (deadlines.len(), deadlines.next_time()),
            (2, Some(due(10, 0).at))
        );
        assert_eq!(deadlines.first_open_event(), EventId::new(1));
        assert!(!deadlines.needs_reload());
        deadlines.remove(due(10, 2));
        deadlines.remove(due(20, 3));
        assert!(deadlines.needs_reload());
        // A deadline that is left out is not settled.
        assert!(deadlines.settled_until(Timestamp::MAX).0 < due(30, 0).at);
    }

    #[test]
    fn everything_before_the_next_deadline_is_settled() {
        let mut deadlines = DeadlineQueue::default();
        let now = due(100, 0).at;
        assert_eq!(deadlines.settled_until(now), (now, None));
        deadlines.insert(due(200, 1), &subject("a"));
        assert_eq!(deadlines.settled_until(now), (now, None));
        for event in [7, 2] {
            deadlines.insert(due(50, event), &subject("a"));
        }
        for event in [2, 7] {
            let (time, before) = deadlines.settled_until(now);
            assert!(time < due(50, 0).at && time > due(49, 0).at);
            assert_eq!(before, EventId::new(event));
            deadlines.remove(due(50, event));
        }
    }

    #[test]
    fn what_is_over_by_a_time_is_closed() {
        let mut deadlines = DeadlineQueue::default();
        for (second, event) in [(10, 1), (20, 2), (20, 3), (30, 2)] {
            deadlines.insert(due(second, event), &subject("a"));
        }
        let of_second = |due: &OpenDeadline, _: &Subject| due.event == EventId::new(2).unwrap();
        deadlines.remove_until(due(20, 0).at, of_second);
        assert_eq!(deadlines.len(), 3);
        deadlines.remove(due(10, 1));
        assert_eq!(
            deadlines.find_due(Timestamp::MAX, |_| false),
            Some(due(20, 3))
        );
    }
}
