//! The deadlines that are open, the next ones in memory. Those that do not fit are found again in
//! the event store when their turn has come.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use crate::event::{EventId, Subject};

/// How many deadlines are kept in memory.
const MOST: usize = 100_000;

/// A deadline: in the order of the times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Due {
    pub(super) at: Timestamp,
    /// The event that names the time.
    pub(super) event: EventId,
    pub(super) step: usize,
    /// Which of the events that an upcaster made of that one.
    pub(super) view: usize,
}

/// The open deadlines of a reaction.
#[derive(Debug)]
pub(super) struct Deadlines {
    by_time: BTreeMap<Due, Subject>,
    by_subject: HashMap<Subject, Vec<Due>>,
    most: usize,
    /// What did not fit.
    beyond: Option<Beyond>,
}

/// Deadlines that are not in memory.
#[derive(Debug, Clone, Copy)]
struct Beyond {
    /// No deadline before this one is missing.
    first: Timestamp,
    /// No deadline that was named before this event is missing.
    oldest: EventId,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self::of_at_most(MOST)
    }
}

impl Deadlines {
    pub(super) fn of_at_most(most: usize) -> Self {
        Self {
            by_time: BTreeMap::new(),
            by_subject: HashMap::new(),
            most,
            beyond: None,
        }
    }

    /// A deadline is set.
    pub(super) fn open(&mut self, due: Due, subject: &Subject) {
        if self.beyond.is_some_and(|beyond| due.at >= beyond.first) {
            self.leave_out(due);
            return;
        }
        self.by_time.insert(due, subject.clone());
        let of_subject = self.by_subject.entry(subject.clone()).or_default();
        of_subject.push(due);
        if self.by_time.len() > self.most
            && let Some((last, _)) = self.by_time.last_key_value()
        {
            let last = *last;
            self.close(last);
            self.leave_out(last);
        }
    }

    fn leave_out(&mut self, due: Due) {
        let before = self.beyond.unwrap_or(Beyond {
            first: due.at,
            oldest: due.event,
        });
        self.beyond = Some(Beyond {
            first: before.first.min(due.at),
            oldest: before.oldest.min(due.event),
        });
    }

    /// A deadline was met, or is of no matter any more.
    pub(super) fn close(&mut self, due: Due) {
        let Some(subject) = self.by_time.remove(&due) else {
            return;
        };
        if let Some(of_subject) = self.by_subject.get_mut(&subject) {
            of_subject.retain(|open| *open != due);
            if of_subject.is_empty() {
                self.by_subject.remove(&subject);
            }
        }
    }

    /// The deadlines that a step has on a subject are of no matter any more.
    pub(super) fn cancel(&mut self, subject: &Subject, step: usize) {
        let of_subject = self.by_subject.get(subject);
        let open: Vec<_> = of_subject.into_iter().flatten().copied().collect();
        for due in open.into_iter().filter(|due| due.step == step) {
            self.close(due);
        }
    }

    /// The next deadline that is not in the future.
    pub(super) fn due(&self, now: Timestamp) -> Option<Due> {
        let (next, _) = self.by_time.first_key_value()?;
        (next.at <= now).then_some(*next)
    }

    /// ReactionTiming the next one is due, as far as is known.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.by_time.first_key_value().map(|(due, _)| due.at)
    }

    /// How many are in memory.
    pub(super) fn len(&self) -> usize {
        self.by_time.len()
    }

    /// Whether those that did not fit have to be found again.
    pub(super) fn lacks_the_next(&self) -> bool {
        self.by_time.is_empty() && self.beyond.is_some()
    }

    /// The oldest event that names an open deadline.
    pub(super) fn oldest(&self) -> Option<EventId> {
        let open = self.by_time.keys().map(|due| due.event);
        open.chain(self.beyond.map(|beyond| beyond.oldest)).min()
    }

    /// The time up to which every deadline was met or cancelled, and the event before which those of
    /// the next nanosecond were.
    pub(super) fn settled(&self, now: Timestamp) -> (Timestamp, Option<EventId>) {
        let next = self.by_time.keys().next();
        let next = next.map(|due| (due.at, Some(due.event)));
        let next = next.or(self.beyond.map(|beyond| (beyond.first, None)));
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

    /// Those until a time that fulfil a condition are of no matter any more.
    pub(super) fn close_until(&mut self, last: Timestamp, is_over: impl Fn(&Due) -> bool) {
        let until = self.by_time.keys().take_while(|due| due.at <= last);
        let over: Vec<_> = until.filter(|due| is_over(due)).copied().collect();
        over.into_iter().for_each(|due| self.close(due));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(second: i64, event: u64) -> Due {
        Due {
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
        let mut deadlines = Deadlines::default();
        deadlines.open(due(20, 1), &subject("a"));
        deadlines.open(due(10, 2), &subject("b"));
        assert_eq!(deadlines.due(due(9, 0).at), None);
        assert_eq!(deadlines.due(due(30, 0).at), Some(due(10, 2)));
        deadlines.close(due(10, 2));
        assert_eq!(deadlines.due(due(30, 0).at), Some(due(20, 1)));
        assert_eq!(deadlines.oldest(), EventId::new(1));
    }

    #[test]
    fn a_step_is_cancelled_on_its_subject_alone() {
        let mut deadlines = Deadlines::default();
        let other_step = Due {
            step: 1,
            ..due(10, 1)
        };
        deadlines.open(due(10, 1), &subject("a"));
        deadlines.open(other_step, &subject("a"));
        deadlines.open(due(10, 2), &subject("b"));
        deadlines.cancel(&subject("a"), 0);
        assert_eq!(deadlines.len(), 2);
        assert_eq!(deadlines.due(due(10, 0).at), Some(other_step));
    }

    #[test]
    fn what_does_not_fit_is_the_latest_and_is_known_to_lack() {
        let mut deadlines = Deadlines::of_at_most(2);
        for (second, event) in [(30, 1), (10, 2), (20, 3), (40, 4)] {
            deadlines.open(due(second, event), &subject("a"));
        }
        assert_eq!(
            (deadlines.len(), deadlines.next()),
            (2, Some(due(10, 0).at))
        );
        assert_eq!(deadlines.oldest(), EventId::new(1));
        assert!(!deadlines.lacks_the_next());
        deadlines.close(due(10, 2));
        deadlines.close(due(20, 3));
        assert!(deadlines.lacks_the_next());
        // A deadline that is left out is not settled.
        assert!(deadlines.settled(Timestamp::MAX).0 < due(30, 0).at);
    }

    #[test]
    fn everything_before_the_next_deadline_is_settled() {
        let mut deadlines = Deadlines::default();
        let now = due(100, 0).at;
        assert_eq!(deadlines.settled(now), (now, None));
        deadlines.open(due(200, 1), &subject("a"));
        assert_eq!(deadlines.settled(now), (now, None));
        for event in [7, 2] {
            deadlines.open(due(50, event), &subject("a"));
        }
        for event in [2, 7] {
            let (time, before) = deadlines.settled(now);
            assert!(time < due(50, 0).at && time > due(49, 0).at);
            assert_eq!(before, EventId::new(event));
            deadlines.close(due(50, event));
        }
    }

    #[test]
    fn what_is_over_by_a_time_is_closed() {
        let mut deadlines = Deadlines::default();
        for (second, event) in [(10, 1), (20, 2), (20, 3), (30, 2)] {
            deadlines.open(due(second, event), &subject("a"));
        }
        deadlines.close_until(due(20, 0).at, |due| due.event == EventId::new(2).unwrap());
        assert_eq!(deadlines.len(), 3);
        deadlines.close(due(10, 1));
        assert_eq!(deadlines.due(Timestamp::MAX), Some(due(20, 3)));
    }
}
