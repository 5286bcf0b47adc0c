//! The next time of each schedule of a reaction. It is a deadline that is followed by another one.

use std::sync::Arc;

use jiff::Timestamp;

use super::{
    ReactionError, deadline_queue::OpenDeadline, processor::ReactionProcessor,
    schedule_start::ScheduleStart,
};
use es_event::{EventId, RecordedEvent, Subject};
use es_subscribe::{SubscriberFailure, TroubleCause};

impl ReactionProcessor {
    /// Opens the deadline of the next time of each schedule: the first one after its start that no checkpoint covers.
    pub(super) async fn open_schedules(
        &mut self,
        started_at: Timestamp,
    ) -> Result<(), ReactionError> {
        for step in Arc::clone(&self.executor.schedules).keys().copied() {
            let runtime = &self.executor.runtime;
            let name = (self.executor.reaction.name, self.executor.step_name(step));
            let start = ScheduleStart::find(&*runtime.store, name, started_at).await?;
            self.schedule_starts.insert(step, start);
            self.open_schedule(step);
        }
        Ok(())
    }

    /// Records the start of a schedule whose first time is due, so that the deadline has an event. Returns true if the
    /// deadline was replaced.
    pub(super) async fn record_start(&mut self, due: OpenDeadline) -> Result<bool, ReactionError> {
        let starts = &mut self.schedule_starts;
        let Some(start) = starts.get_mut(&due.step).filter(|it| it.event.is_none()) else {
            return Ok(false);
        };
        let runtime = &self.executor.runtime;
        let recorded = start.clone().record(&*runtime.store, &runtime.source);
        *start = recorded.await?;
        self.deadlines.remove(due);
        self.open_schedule(due.step);
        Ok(true)
    }

    /// Opens a schedule anew at another start than the known one, which this process or another has recorded.
    pub(super) fn restart_schedule(&mut self, event: &RecordedEvent) {
        if self.schedule_starts.is_empty() {
            return;
        }
        let Some(recorded) = ScheduleStart::from_event(event) else {
            return;
        };
        let mut starts = self.schedule_starts.iter_mut();
        let known = starts.find(|(_, known)| known.subject == recorded.subject);
        if let Some((step, known)) = known.filter(|(_, known)| known.event < recorded.event) {
            let step = *step;
            *known = recorded;
            self.deadlines.take_scheduled(|due, _| due.step == step);
            self.open_schedule(step);
        }
    }

    /// Returns the steps whose schedules leave out times that are still to come, with the times at which they go on. A
    /// clock that was ahead has met the others.
    fn schedules_ahead(&self) -> Vec<(usize, Timestamp)> {
        let now = self.executor.runtime.services.clock().now();
        let is_ahead = |due: &OpenDeadline| {
            let schedule = self.executor.schedules.get(&due.step);
            schedule.is_some_and(|schedule| schedule.has_time_between(now, due.at))
        };
        let ahead = self.deadlines.scheduled().filter(|due| is_ahead(due));
        ahead.map(|due| (due.step, due.at)).collect()
    }

    /// Reports the schedules that leave out times until somebody retries the reaction.
    pub(super) fn publish_schedules_ahead(&mut self) {
        let ahead = self.schedules_ahead();
        let progress = &self.executor.progress;
        if let Some((step, at)) = ahead.first() {
            let step = self.executor.step_name(*step);
            let reason = format!(
                "the clock was ahead, so the schedule of `{step}` has met all times before {at}: check the clock, \
                 then retry the reaction to let it go on with the next time"
            );
            if !self.is_schedule_ahead {
                tracing::error!(
                    reaction = self.executor.reaction.name,
                    reason,
                    "a schedule waits"
                );
            }
            progress.record_failure(SubscriberFailure::new(TroubleCause::Action, false, reason));
        } else if self.is_schedule_ahead {
            progress.record_success();
        }
        self.is_schedule_ahead = !ahead.is_empty();
    }

    /// Lets the schedules that leave out times start now. The events with which they start tell it to all instances.
    pub(super) async fn restart_schedules_ahead(&self) -> Result<(), ReactionError> {
        let runtime = &self.executor.runtime;
        let now = runtime.services.clock().now();
        for (step, _) in self.schedules_ahead() {
            if let Some(start) = self.schedule_starts.get(&step) {
                start
                    .record_anew(&*runtime.store, &runtime.source, now)
                    .await?;
            }
        }
        Ok(())
    }

    /// Opens the schedule of a held subject, which is retried.
    pub(super) fn reopen_schedule_of(&mut self, subject: &Subject) {
        let mut starts = self.schedule_starts.iter();
        let of_subject = starts.find(|(_, start)| start.subject == *subject);
        if let Some(step) = of_subject.map(|(step, _)| *step) {
            self.open_schedule(step);
        }
    }

    fn open_schedule(&mut self, step: usize) {
        if let Some(ScheduleStart { subject, event, at }) = self.schedule_starts.get(&step).cloned()
        {
            let (view, event) = (0, event.unwrap_or(EventId::FIRST));
            let start = OpenDeadline {
                at,
                event,
                step,
                view,
            };
            self.open_next_time(start, &subject);
        }
    }

    /// Opens the first time of a schedule after this one that no checkpoint covers, unless its subject is held.
    pub(super) fn open_next_time(&mut self, before: OpenDeadline, subject: &Subject) {
        let Some(schedule) = self.executor.schedules.get(&before.step) else {
            return;
        };
        let holds = &self.checkpoints.holds;
        if holds.blocks(subject) {
            return;
        }
        let held = holds.find(subject).map(|held| &held.progress);
        let known = held.or(self.checkpoints.last_progress());
        // Times that were met before the start of the schedule do not count.
        let known = known.filter(|known| known.has_passed(before.event));
        let after = known.map_or(before.at, |known| known.settled.max(before.at));
        let mut next = schedule.next_after(after);
        if let (Some(at), Some(known)) = (next, known)
            && known.has_settled_deadline(at, before.event)
        {
            next = schedule.next_after(at);
        }
        match next {
            Some(at) => {
                let next = OpenDeadline { at, ..before };
                self.deadlines.insert_scheduled(next, subject);
            }
            None => {
                let reaction = self.executor.reaction.name;
                tracing::warn!(reaction, %subject, "a schedule has no further time");
            }
        }
    }

    /// Leaves out the missed times of a schedule that its rule does not make up for. Returns true if the deadline
    /// was replaced.
    pub(super) fn skip_missed_times(&mut self, due: OpenDeadline, now: Timestamp) -> bool {
        let Some(schedule) = self.executor.schedules.get(&due.step) else {
            return false;
        };
        let at = schedule.skip_missed(due.at, now);
        let Some(subject) = self.deadlines.find_subject(due).cloned() else {
            return false;
        };
        if at == due.at {
            return false;
        }
        let (reaction, missed) = (self.executor.reaction.name, schedule.missed());
        let (first, next) = (due.at, at);
        tracing::warn!(reaction, %subject, %first, %next, ?missed, "a schedule leaves out missed times");
        self.deadlines.remove(due);
        let next = OpenDeadline { at, ..due };
        self.deadlines.insert_scheduled(next, &subject);
        true
    }

    /// Removes a deadline that was met. A schedule goes on with its next time.
    pub(super) fn close_deadline(&mut self, met: OpenDeadline, subject: &Subject) {
        self.deadlines.remove(met);
        self.open_next_time(met, subject);
    }
}
