//! The subjects that a reaction holds, as one process knows them: those of the last known checkpoint, with the work and
//! the counts of this process since then.

use super::{
    held_subject::{HeldSubject, HeldSubjects},
    reaction_progress::ReactionTask,
};
use es_event::{RecordedEvent, Subject};
use es_subscribe::HeldKeys;

/// The held subjects, as one process knows them.
#[derive(Debug, Default)]
pub(super) struct SubjectHolds {
    subjects: HeldSubjects,
    /// The held subject whose events this process handles again, and the number of its failed attempts.
    retried: Option<(Subject, u32)>,
    /// True if another process has released a subject or has taken the lease, see [`SubjectHolds::must_rewind`].
    must_rewind: bool,
}

impl SubjectHolds {
    /// Takes over the held subjects of a loaded checkpoint, and keeps the work of this process on them: `done` are the
    /// tasks that it has finished.
    pub(super) fn load(&mut self, known: HeldSubjects, done: &mut Vec<(Subject, ReactionTask)>) {
        let before = std::mem::replace(&mut self.subjects, known);
        for (subject, own) in before {
            match self.subjects.get_mut(&subject) {
                Some(held) => held.add_own_work(own),
                None => self.must_rewind = true,
            }
        }
        done.retain(|(subject, task)| match self.subjects.get_mut(subject) {
            Some(held) => {
                held.mark_done(task.clone());
                false
            }
            None => true,
        });
    }

    /// Replaces the subjects by those of a checkpoint that this process has written.
    pub(super) fn replace(&mut self, written: HeldSubjects) {
        self.subjects = written;
    }

    /// Returns the held subjects.
    pub(super) const fn subjects(&self) -> &HeldSubjects {
        &self.subjects
    }

    /// Returns a held subject.
    pub(super) fn find(&self, subject: &Subject) -> Option<&HeldSubject> {
        self.subjects.get(subject)
    }

    /// Returns a held subject to change it. The next checkpoint records the change.
    pub(super) fn find_mut(&mut self, subject: &Subject) -> Option<&mut HeldSubject> {
        self.subjects.get_mut(subject)
    }

    /// Returns whether this process leaves the subject alone. That is so for each held subject but the one whose events
    /// it handles again, and for this one as soon as another process has made an attempt or has released it.
    pub(super) fn blocks(&self, subject: &Subject) -> bool {
        let held = self.subjects.get(subject);
        match self.retried.as_ref().filter(|(one, _)| one == subject) {
            Some((_, attempts)) => held.is_none_or(|held| held.attempts != *attempts),
            None => held.is_some(),
        }
    }

    /// Returns whether an event waits because its subject is held.
    pub(super) fn is_waiting(&self, event: &RecordedEvent) -> bool {
        let held = self.subjects.get(&event.subject);
        held.is_some_and(|held| !held.progress.has_passed(event.id))
    }

    /// Counts an event that waits. The next checkpoint records it.
    pub(super) fn count(&mut self, event: &RecordedEvent) {
        if let Some(held) = self.subjects.get_mut(&event.subject) {
            held.count(event);
        }
    }

    /// Begins to handle the events of a held subject again. Returns `None` if it is not held.
    pub(super) fn begin_retry(&mut self, subject: &Subject) -> Option<HeldSubject> {
        let held = self.subjects.get(subject)?;
        self.retried = Some((subject.clone(), held.attempts));
        Some(held.clone())
    }

    /// Goes on with the retry of a held subject that had this number of attempts, after a call.
    pub(super) fn resume_retry(&mut self, subject: &Subject, attempts: Option<u32>) {
        self.retried = attempts.map(|attempts| (subject.clone(), attempts));
    }

    /// Lets the process begin anew at the last checkpoint, because another one has taken its lease.
    pub(super) const fn request_rewind(&mut self) {
        self.must_rewind = true;
    }

    /// Ends the retry of a held subject.
    pub(super) fn end_retry(&mut self) {
        self.retried = None;
    }

    /// Returns true if another process has released a subject or has taken the lease. This process has passed events that
    /// the last known checkpoint does not cover, and knows none of the deadlines of a released subject. So it saves no
    /// progress of its own, and has to begin at that checkpoint.
    pub(super) const fn must_rewind(&self) -> bool {
        self.must_rewind
    }

    /// Returns the held keys that operators see.
    pub(super) fn to_keys(&self) -> HeldKeys {
        let subjects = self.subjects.iter();
        subjects
            .map(|(subject, held)| held.to_key(subject))
            .collect()
    }
}
