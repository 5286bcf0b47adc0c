//! The end of a task: it is finished, or its failure holds the subject.

use std::{sync::atomic::Ordering, time::Duration};

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    ReactionError,
    error::Recovery,
    task_executor::{RefusedTask, TaskEnd, TaskExecutor},
};
use es_event::{PoisonEvent, RecordedEvent, Subject};
use es_subscribe::{
    SubscriberFailure, TroubleCause, back_off,
    state::{Task, TaskChange, TaskFailure},
};

/// The most subjects that a reaction holds. So many failures are a defect of the code or an outage of the other system.
const MAX_HELD_SUBJECTS: usize = 100;
/// The longest reason of a failure in bytes.
const MAX_REASON: usize = 200;
/// The pause before a task is tried again whose subject cannot be held.
const LIMIT_PAUSE: Duration = Duration::from_secs(5);

impl TaskExecutor {
    /// Decides what follows from the end of a task. The next transaction saves it.
    pub(super) fn settle(&mut self, end: TaskEnd) -> Result<(), ReactionError> {
        let TaskEnd {
            task,
            event,
            result,
        } = end;
        self.ended.push(task.subject.clone());
        self.is_changed = true;
        self.shared.steps.record_delivery(&task, &result);
        match result {
            Ok(()) => self.finish(&task),
            Err(error) if self.is_strict => return Err(error),
            Err(ReactionError::Ended(reason)) => {
                let sink = self.shared.name();
                tracing::error!(sink, reason, "the receiver of a sink wants no more events");
                self.ends = true;
            }
            Err(error) => self.settle_failure(task, event.as_ref(), &error),
        }
        Ok(())
    }

    fn finish(&mut self, task: &Task) {
        self.end_pauses();
        if task.failure.is_some() {
            let (reaction, subject) = (self.shared.name(), &task.subject);
            tracing::info!(reaction, %subject, "a reaction no longer holds a subject");
            self.held = self.held.saturating_sub(1);
        }
        if self.is_refused(&task.subject) {
            self.forget_refused();
        } else if self.refused.is_none() {
            self.shared.steps.progress.record_success();
        }
        self.unsaved.extend(self.shared.finish_task(task));
    }

    /// Lets other tasks begin again after the one whose subject could not be held.
    pub(super) fn forget_refused(&mut self) {
        self.refused = None;
        self.shared.is_full.store(false, Ordering::Release);
        self.shared.steps.progress.record_success();
    }

    /// Lets other tasks begin again if a subject was released, or if the refused task is gone: an event has cancelled it.
    pub(super) fn check_refused(&mut self, due: &[Task], has_planned: bool) {
        let Some(RefusedTask { subject, next, .. }) = &self.refused else {
            return;
        };
        let is_there = self.is_busy(subject) || due.iter().any(|task| task.subject == *subject);
        let is_gone = has_planned && !is_there && Instant::now() >= *next;
        if self.held < MAX_HELD_SUBJECTS || is_gone {
            self.forget_refused();
        }
    }

    /// Returns true if a task of the subject is the one that could not be held.
    fn is_refused(&self, subject: &Subject) -> bool {
        let refused = self.refused.as_ref();
        refused.is_some_and(|refused| refused.subject == *subject)
    }

    fn settle_failure(&mut self, task: Task, event: Option<&RecordedEvent>, error: &ReactionError) {
        let poison = match event {
            Some(event) => PoisonEvent::shortened(event, error.to_string(), MAX_REASON),
            None => task.poison_event(&error.to_string()),
        };
        let steps = &self.shared.steps;
        let recovery = error.recovery();
        let attempts = task.attempts.saturating_add(1);
        let is_last = recovery == Recovery::Hold || attempts >= steps.reaction.attempts;
        if recovery == Recovery::Wait {
            self.wait_after(&task, error, &poison);
        } else if is_last && steps.skipped.covers(&poison) || steps.skipped.covers_by_id(&poison) {
            self.finish(&task);
        } else if task.failure.is_none() && self.held >= MAX_HELD_SUBJECTS {
            self.refuse(&task, recovery, &poison);
        } else {
            let longest = steps.reaction.longest_pause();
            let retry_at = match error {
                _ if is_last => None,
                ReactionError::Later { pause, .. } => {
                    self.shared.pause_sink(*pause);
                    Some(after(self.shared.now(), *pause))
                }
                _ => Some(next_attempt(self.shared.now(), attempts, longest)),
            };
            self.hold(task, attempts, poison, retry_at);
        }
    }

    /// Lets the task, and all others, wait until the event store is available again.
    fn wait_after(&mut self, task: &Task, error: &ReactionError, poison: &PoisonEvent) {
        let (reaction, event, subject) = (self.shared.name(), task.key.event, &task.subject);
        let reason = &poison.reason;
        tracing::warn!(reaction, %event, %subject, error = reason, "a reaction fails and retries");
        self.shared
            .steps
            .progress
            .record_failure(SubscriberFailure {
                reason: reason.clone(),
                is_transient: true,
                ..error.to_failure()
            });
        self.pause();
    }

    /// Stops the reaction at a task whose subject cannot be held. It is tried again, because subjects may be released.
    fn refuse(&mut self, task: &Task, recovery: Recovery, poison: &PoisonEvent) {
        let is_call = recovery == Recovery::Retry;
        let advice = if is_call {
            "the other system has failed for many subjects"
        } else {
            "the code is wrong rather than the events"
        };
        let reason = format!("it holds {MAX_HELD_SUBJECTS} subjects, so {advice}: {poison}");
        let failure = SubscriberFailure::new(TroubleCause::Action, is_call, reason);
        let now = Instant::now();
        let next = now.checked_add(LIMIT_PAUSE).unwrap_or(now);
        self.shared.is_full.store(true, Ordering::Release);
        self.published_at = None;
        match &mut self.refused {
            Some(refused) if refused.subject != task.subject => refused.failure = failure,
            refused => {
                *refused = Some(RefusedTask {
                    subject: task.subject.clone(),
                    next,
                    failure,
                });
            }
        }
    }

    fn hold(
        &mut self,
        task: Task,
        attempts: u32,
        poison: PoisonEvent,
        retry_at: Option<Timestamp>,
    ) {
        let (reaction, subject) = (self.shared.name(), &task.subject);
        let (event, error) = (task.key.event.get(), &poison.reason);
        match &retry_at {
            Some(next) => {
                tracing::warn!(reaction, %subject, event, error, %next, "a reaction fails and retries; all other subjects go on");
            }
            None => {
                tracing::error!(reaction, %subject, event, error, "a reaction holds a subject; all others go on");
            }
        }
        if task.failure.is_none() {
            self.held = self.held.saturating_add(1);
        }
        self.shared.lock_retried().remove(subject);
        if self.is_refused(&task.subject) {
            self.forget_refused();
        }
        self.unsaved.push(TaskChange::Fail {
            key: task.key,
            subject: task.subject,
            attempts,
            failure: TaskFailure {
                reason: poison.reason,
                retry_at,
            },
        });
    }
}

/// Returns the time of the attempt after this number of failed ones. The pause grows with each of them.
fn next_attempt(now: Timestamp, attempts: u32, longest: Duration) -> Timestamp {
    let number = usize::try_from(attempts.saturating_sub(1)).unwrap_or(usize::MAX);
    let pause = back_off(longest).nth(number.min(100));
    after(now, pause.unwrap_or(longest))
}

fn after(now: Timestamp, pause: Duration) -> Timestamp {
    now.saturating_add(pause).unwrap_or(Timestamp::MAX)
}
