//! The calls that a reaction makes at the moment: at most one for each subject, and several at once. The events of a
//! subject wait for the end of its call.

use std::collections::{BTreeMap, VecDeque};

use tokio::task::JoinSet;

use super::{ReactionError, reaction_progress::ReactionTask};
use es_event::{EventId, RecordedEvent, Subject};

/// The most calls that one reaction of a process makes at once.
const MAX_CALLS: usize = 16;
/// The most calls at once for held subjects, whose calls have failed before and may hang again.
const MAX_RETRIED: usize = MAX_CALLS / 2;
/// The most events and tasks behind a call. With more, its subject is held, so that checkpoints stay small.
const MAX_AHEAD: usize = 100;

/// The end of a call.
#[derive(Debug)]
pub(super) struct CallEnd {
    pub(super) subject: Subject,
    pub(super) result: Result<(), ReactionError>,
}

/// A call that was begun.
#[derive(Debug, Clone)]
pub(super) struct BegunCall {
    pub(super) event: RecordedEvent,
    pub(super) task: ReactionTask,
    /// The number of attempts of the held subject at the begin, or when the call began to hold its subject.
    pub(super) attempts: Option<u32>,
    /// True if the call holds its subject because it takes long.
    pub(super) holds_subject: bool,
}

/// A subject with a call, and the events that wait for the end of the call.
#[derive(Debug)]
struct BusySubject {
    call: BegunCall,
    waiting: VecDeque<RecordedEvent>,
    /// The number of the call with which it became busy.
    since: u64,
}

/// The calls that a reaction makes at the moment.
#[derive(Debug, Default)]
pub(super) struct RunningCalls {
    running: JoinSet<CallEnd>,
    /// The ends that are not handled yet.
    ended: VecDeque<CallEnd>,
    subjects: BTreeMap<Subject, BusySubject>,
    begun: u64,
}

impl RunningCalls {
    /// Begins a call. `attempts` are those of a held subject.
    pub(super) fn begin(
        &mut self,
        event: &RecordedEvent,
        task: ReactionTask,
        attempts: Option<u32>,
        call: impl Future<Output = Result<(), ReactionError>> + Send + 'static,
    ) {
        let subject = event.subject.clone();
        let call_end = {
            let subject = subject.clone();
            async move {
                let result = call.await;
                CallEnd { subject, result }
            }
        };
        self.running.spawn(call_end);
        let call = BegunCall {
            event: event.clone(),
            task,
            attempts,
            holds_subject: false,
        };
        self.begun = self.begun.saturating_add(1);
        let (waiting, since) = match self.subjects.remove(&subject) {
            Some(busy) => (busy.waiting, busy.since),
            None => (VecDeque::new(), self.begun),
        };
        let busy = BusySubject {
            call,
            waiting,
            since,
        };
        self.subjects.insert(subject, busy);
    }

    /// Returns whether no call runs, so that no lease is needed.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty() && self.ended.is_empty()
    }

    /// Returns whether a further call has to wait for the end of another one.
    pub(super) fn is_full(&self) -> bool {
        self.subjects.len() >= MAX_CALLS
    }

    /// Returns whether a further call of a held subject has to wait.
    pub(super) fn is_full_of_retries(&self) -> bool {
        let calls = self.subjects.values().map(|busy| &busy.call);
        calls.filter(|call| call.attempts.is_some()).count() >= MAX_RETRIED
    }

    /// Returns whether the events and deadlines of a subject wait for a call.
    pub(super) fn is_busy(&self, subject: &Subject) -> bool {
        self.subjects.contains_key(subject)
    }

    pub(super) fn find(&self, subject: &Subject) -> Option<&BegunCall> {
        self.subjects.get(subject).map(|busy| &busy.call)
    }

    /// Lets an event wait for the end of the call of its subject.
    pub(super) fn push_waiting(&mut self, event: RecordedEvent) {
        if let Some(busy) = self.subjects.get_mut(&event.subject) {
            busy.waiting.push_back(event);
        }
    }

    /// Returns the first event of a subject that waits. It is the one whose call runs, unless a deadline led to the call.
    pub(super) fn first_waiting(&self, subject: &Subject) -> Option<&RecordedEvent> {
        self.subjects.get(subject)?.waiting.front()
    }

    /// Removes the first event of a subject, which was handled.
    pub(super) fn pop_waiting(&mut self, subject: &Subject) {
        if let Some(busy) = self.subjects.get_mut(subject) {
            busy.waiting.pop_front();
        }
    }

    /// Removes a subject whose call has ended and whose events were handled.
    pub(super) fn remove(&mut self, subject: &Subject) {
        self.subjects.remove(subject);
    }

    /// Returns the last event before those that wait.
    pub(super) fn last_before_waiting(&self) -> Option<Option<EventId>> {
        let waiting = self.subjects.values().flat_map(|busy| &busy.waiting);
        let first = waiting.map(|event| event.id).min()?;
        Some(before(first))
    }

    /// Returns the subject that is busy for the longest time, if too many events and tasks are behind its call.
    pub(super) fn find_hanging(&self, tasks: usize) -> Option<Subject> {
        let subjects = self.subjects.iter();
        let waiting = subjects.clone().map(|(_, busy)| busy.waiting.len()).sum();
        if tasks.saturating_add(waiting) < MAX_AHEAD {
            return None;
        }
        let free = subjects.filter(|(_, busy)| busy.call.attempts.is_none());
        let oldest = free.min_by_key(|(_, busy)| busy.since);
        oldest.map(|(subject, _)| subject.clone())
    }

    /// Records that a call holds its subject, and returns the events that waited for it.
    pub(super) fn begin_hold(
        &mut self,
        subject: &Subject,
        attempts: u32,
    ) -> VecDeque<RecordedEvent> {
        let Some(busy) = self.subjects.get_mut(subject) else {
            return VecDeque::new();
        };
        busy.call.attempts = Some(attempts);
        busy.call.holds_subject = true;
        std::mem::take(&mut busy.waiting)
    }

    /// Returns the end of a call, if one has ended.
    pub(super) fn take_end(&mut self) -> Option<CallEnd> {
        if self.ended.is_empty()
            && let Some(Ok(end)) = self.running.try_join_next()
        {
            return Some(end);
        }
        self.ended.pop_front()
    }

    /// Waits until a call has ended, and returns false if none runs. The future can be dropped.
    pub(super) async fn wait_for_end(&mut self) -> bool {
        if self.ended.is_empty()
            && let Some(Ok(end)) = self.running.join_next().await
        {
            self.ended.push_back(end);
        }
        !self.ended.is_empty()
    }

    /// Ends all calls at once.
    pub(super) fn abort(&mut self) {
        self.running = JoinSet::new();
        self.ended.clear();
    }
}

/// Returns the position before an event.
pub(super) fn before(event: EventId) -> Option<EventId> {
    event.get().checked_sub(1).and_then(EventId::new)
}
