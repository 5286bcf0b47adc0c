//! The subjects that a reaction holds. Each waits at an event or a deadline that the reaction could not handle, with
//! its later events and deadlines, while all other subjects go on. They are a part of the checkpoint.

use std::{collections::BTreeMap, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::reaction_progress::{ReactionProgress, ReactionTask};
use es_event::{EventId, EventType, PoisonEvent, RecordedEvent, Subject};
use es_subscribe::{HeldKey, HeldKeyKind, back_off};

/// The most subjects that a reaction holds. Each checkpoint contains them. So many failures are a defect of the code
/// or an outage of the other system.
pub(super) const MAX_HELD_SUBJECTS: usize = 100;
/// The longest reason of a failure in bytes.
const MAX_REASON: usize = 200;
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(60 * 60);

/// A subject that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeldSubject {
    /// The progress of the reaction on this subject alone. The subject is read again from `openFrom`. Later events
    /// than `position`, and later deadlines than `settled`, wait.
    #[serde(flatten)]
    pub(super) progress: ReactionProgress,
    /// The tasks beyond `progress` that were executed or skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) done: Vec<ReactionTask>,
    /// The event at which a step failed.
    pub(super) event: EventId,
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    event_type: Option<EventType>,
    reason: String,
    /// The number of attempts that failed.
    pub(super) attempts: u32,
    /// The time of the next attempt, unless only an operator or a start makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next_attempt: Option<Timestamp>,
    /// The number of events that wait.
    events: u64,
    first: Timestamp,
    last: Timestamp,
    /// The last event that waits.
    last_event: EventId,
}

/// The held subjects of a reaction.
pub(super) type HeldSubjects = BTreeMap<Subject, HeldSubject>;

/// Creates the report of a failure. Each checkpoint contains the reason, so it is short.
pub(super) fn report_failure(event: &RecordedEvent, error: &impl ToString) -> PoisonEvent {
    PoisonEvent::shortened(event, error.to_string(), MAX_REASON)
}

impl HeldSubject {
    /// Holds a subject at an event with this time.
    pub(super) fn new(progress: ReactionProgress, poison: PoisonEvent, time: Timestamp) -> Self {
        Self {
            progress,
            done: Vec::new(),
            event: poison.id,
            event_type: poison.event_type,
            reason: poison.reason,
            attempts: 0,
            next_attempt: None,
            events: 1,
            first: time,
            last: time,
            last_event: poison.id,
        }
    }

    /// Records a failed attempt at an event with this time. The subject may have waited at an earlier event until now.
    pub(super) fn record_failure(&mut self, poison: PoisonEvent, time: Timestamp) {
        if self.event != poison.id {
            self.attempts = 0;
            self.first = time;
        }
        self.attempts = self.attempts.saturating_add(1);
        self.next_attempt = None;
        self.event = poison.id;
        self.event_type = poison.event_type;
        self.reason = poison.reason;
    }

    /// Lets the subject wait for the next attempt, after a pause that grows with each attempt.
    pub(super) fn retry_later(&mut self, now: Timestamp) {
        let number = usize::try_from(self.attempts.saturating_sub(1)).unwrap_or(usize::MAX);
        let pause = back_off(LONGEST_PAUSE).nth(number.min(100));
        let next = now.saturating_add(pause.unwrap_or(LONGEST_PAUSE));
        self.next_attempt = Some(next.unwrap_or(Timestamp::MAX));
    }

    /// Returns whether it is time for the next attempt. A time beyond all pauses is that of a wrong clock.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        let is_due = |next: Timestamp| {
            let pause = next.duration_since(now);
            !pause.is_positive() || pause.unsigned_abs() > LONGEST_PAUSE.saturating_mul(2)
        };
        self.next_attempt.is_some_and(is_due)
    }

    /// Passes an event that was handled. The next attempt begins there, or at an earlier event with an open deadline.
    pub(super) fn advance_to(&mut self, event: EventId, first_open: Option<EventId>) {
        let progress = &mut self.progress;
        progress.position = progress.position.max(Some(event));
        let open_from = first_open.map_or(event, |first| first.min(event));
        progress.open_from = progress.open_from.max(Some(open_from));
        self.events = self.events.saturating_sub(1).max(1);
    }

    /// Counts a later event.
    pub(super) fn count(&mut self, event: &RecordedEvent) {
        if event.id > self.last_event {
            self.events = self.events.saturating_add(1);
            self.last = event.time.timestamp().unwrap_or(self.last);
            self.last_event = event.id;
        }
    }

    /// Returns whether a task was executed or skipped.
    pub(super) fn is_task_done(&self, task: &ReactionTask) -> bool {
        self.progress.covers(task) || self.done.contains(task)
    }

    /// Adds a task that was executed or skipped. It stays until the progress of the whole reaction covers it, too, because
    /// that counts after the release.
    pub(super) fn mark_done(&mut self, task: ReactionTask) {
        if !self.done.contains(&task) {
            self.done.push(task);
        }
    }

    /// Removes the tasks that both this progress and that of the whole reaction cover.
    pub(super) fn forget_done(&mut self, whole: &ReactionProgress) {
        let own = &self.progress;
        self.done
            .retain(|task| !(own.covers(task) && whole.covers(task)));
    }

    /// Adds the work that this process has done since the stored state of the same subject.
    pub(super) fn add_own_work(&mut self, own: Self) {
        let progress = &mut self.progress;
        progress.position = progress.position.max(own.progress.position);
        progress.open_from = progress.open_from.max(own.progress.open_from);
        own.done.into_iter().for_each(|task| self.mark_done(task));
        if own.last_event > self.last_event {
            self.events = own.events;
            self.last = own.last;
            self.last_event = own.last_event;
        }
    }

    /// Returns the held key that operators see.
    pub(super) fn to_key(&self, subject: &Subject) -> HeldKey {
        let poison = PoisonEvent {
            id: self.event,
            subject: Some(subject.clone()),
            event_type: self.event_type.clone(),
            reason: self.reason.clone(),
        };
        HeldKey {
            events: self.events,
            last: self.last,
            next_attempt: self.next_attempt,
            ..HeldKey::new(HeldKeyKind::Subject, subject.as_str(), poison, self.first)
        }
    }
}

#[cfg(test)]
mod tests {
    use es_event::{EventCandidate, EventTime, Hash, Metadata};
    use jiff::SignedDuration;

    use super::*;

    fn held() -> HeldSubject {
        let progress = ReactionProgress {
            position: EventId::new(4),
            settled: Timestamp::UNIX_EPOCH,
            settled_before: None,
            open_from: EventId::new(2),
        };
        let poison = PoisonEvent::unreadable(EventId::new(5).unwrap(), "no");
        HeldSubject::new(progress, poison, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn attempts_go_on_for_days_with_pauses_of_at_most_an_hour() {
        let (mut held, mut now) = (held(), Timestamp::UNIX_EPOCH);
        let mut pauses = Vec::new();
        for _ in 0..100 {
            held.record_failure(PoisonEvent::unreadable(held.event, "no"), held.first);
            held.retry_later(now);
            let next = held.next_attempt.unwrap();
            pauses.push(next.duration_since(now).as_millis());
            now = next;
        }
        assert_eq!([pauses[0], pauses[4], pauses[99]], [100, 1_600, 3_600_000]);
        let whole = now.duration_since(Timestamp::UNIX_EPOCH);
        assert!(whole > SignedDuration::from_hours(3 * 24), "{whole}");
    }

    #[test]
    fn a_short_report_has_the_fingerprint_of_the_failure_whatever_value_it_quotes() {
        let candidate = EventCandidate {
            source: "tests".into(),
            subject: "/invoices/1".parse().unwrap(),
            event_type: EventType::declared("com.example.InvoiceSentEvent"),
            data: es_event::encode(&Metadata::default(), &1).unwrap(),
            trace: None,
        };
        let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
        let fingerprints = [3, 300, 30_000].map(|length| {
            let value = "x".repeat(length);
            let error = format!("invalid type: string \"{value}\", expected i64");
            let poison = report_failure(&event, &error);
            assert!(poison.reason.len() < 250, "{}", poison.reason);
            assert!(poison.reason.ends_with("expected i64"), "{}", poison.reason);
            poison.fingerprint()
        });
        assert_eq!(fingerprints[0], fingerprints[1]);
        assert_eq!(fingerprints[0], fingerprints[2]);
    }

    #[test]
    fn a_clock_that_was_far_ahead_delays_no_attempt() {
        let now = Timestamp::UNIX_EPOCH;
        let mut held = held();
        for (hours, is_due) in [(-1, true), (0, true), (1, false), (24 * 365, true)] {
            held.next_attempt = Some(now + SignedDuration::from_hours(hours));
            assert_eq!(held.is_due(now), is_due, "{hours}");
        }
        held.next_attempt = None;
        assert!(!held.is_due(now));
    }

    #[test]
    fn a_failure_at_a_later_event_has_its_attempts_before_it() {
        let mut held = held();
        held.record_failure(PoisonEvent::unreadable(held.event, "no"), held.first);
        held.record_failure(PoisonEvent::unreadable(held.event, "no"), held.first);
        assert_eq!(held.attempts, 2);
        let later = PoisonEvent::unreadable(EventId::new(9).unwrap(), "no");
        held.record_failure(later, Timestamp::UNIX_EPOCH);
        assert_eq!(held.attempts, 1);
    }

    #[test]
    fn a_task_stays_until_the_progress_of_the_whole_reaction_covers_it() {
        let (mut stored, mut own) = (held(), held());
        let call = ReactionTask {
            event: own.event,
            step: "call".into(),
            view: 0,
            at: None,
        };
        own.mark_done(call.clone());
        own.advance_to(own.event, None);
        let mut whole = held().progress;
        own.forget_done(&whole);
        // An append failed, and the stored state was loaded.
        stored.add_own_work(own);
        assert_eq!(stored.done, [call]);
        whole.position = Some(stored.event);
        stored.forget_done(&whole);
        assert!(stored.done.is_empty());
    }

    #[test]
    fn a_held_subject_is_read_as_it_was_written() {
        let held = held();
        let json = serde_json::to_string(&held).unwrap();
        assert_eq!(serde_json::from_str::<HeldSubject>(&json).unwrap(), held);
    }
}
