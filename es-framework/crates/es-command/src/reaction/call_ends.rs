//! The ends of calls: records each one, and lets the events go on that waited for it.

use super::{
    ReactionError,
    error::Recovery,
    held_subject::{MAX_HELD_SUBJECTS, report_failure},
    processor::ReactionProcessor,
    running_calls::{BegunCall, CallEnd},
    stop_reason::{StepFailure, StopReason},
};
use es_event::{RecordedEvent, Subject};

impl ReactionProcessor {
    /// Handles the ends of calls, and waits until another call may begin.
    pub(super) async fn make_room(&mut self) -> Result<(), StopReason> {
        if !self.checkpoints.renew_if_due().await {
            self.lose_calls();
        }
        loop {
            while let Some(end) = self.calls.take_end() {
                let finished = self.finish_call(end).await;
                if finished.is_err() {
                    // The subject stays busy without a call, until the processor begins anew.
                    self.checkpoints.holds.request_rewind();
                }
                finished?;
            }
            if self.checkpoints.needs_save() {
                self.save_until_stored().await?;
            }
            if !self.calls.is_full() || !self.wait_for_end().await {
                return Ok(());
            }
        }
    }

    /// Waits for the end of a call and handles it.
    pub(super) async fn finish_next_call(&mut self) -> Result<(), StopReason> {
        if self.wait_for_end().await {
            self.make_room().await?;
        }
        Ok(())
    }

    /// Waits for the ends of all calls and handles them.
    pub(super) async fn finish_calls(&mut self) -> Result<(), StopReason> {
        while !self.calls.is_idle() {
            self.finish_next_call().await?;
        }
        Ok(())
    }

    /// Waits for the ends of all calls and records them, because this processor does not go on. It begins no further call.
    pub(super) async fn await_calls(&mut self) {
        while self.wait_for_end().await {
            while let Some(CallEnd { subject, result }) = self.calls.take_end() {
                if let Some(call) = self.calls.find(&subject).cloned() {
                    // The next processor makes a failed call again whose subject cannot be held.
                    let _ = self.record_end(&subject, call, result).await;
                }
            }
        }
    }

    /// Waits for the end of a call, and renews the lease meanwhile. Returns false if no call runs any more.
    pub(super) async fn wait_for_end(&mut self) -> bool {
        tokio::select! {
            biased;
            has_ended = self.calls.wait_for_end() => return has_ended,
            () = self.checkpoints.renew_until_lost() => {}
        }
        self.lose_calls();
        false
    }

    /// Ends all calls at once.
    pub(super) fn drop_calls(&mut self) {
        self.calls.abort();
        self.checkpoints.keeps_lease = false;
    }

    /// Ends all calls, because another process has taken the lease.
    pub(super) fn lose_calls(&mut self) {
        self.drop_calls();
        self.checkpoints.holds.request_rewind();
    }

    /// Records the end of a call and handles the events that waited for it, up to the next call.
    async fn finish_call(&mut self, end: CallEnd) -> Result<(), StopReason> {
        let CallEnd { subject, result } = end;
        self.checkpoints.keeps_lease = !self.calls.is_idle();
        let Some(call) = self.calls.find(&subject).cloned() else {
            return Ok(());
        };
        self.is_dirty = true;
        self.record_end(&subject, call, result).await?;
        while let Some(event) = self.calls.first_waiting(&subject).cloned() {
            if !self.react_or_hold(&event).await? {
                return Ok(());
            }
            self.calls.pop_waiting(&subject);
        }
        self.calls.remove(&subject);
        Ok(())
    }

    /// Records the end of a call. A held subject goes on behind a call that has succeeded or is skipped.
    async fn record_end(
        &mut self,
        subject: &Subject,
        call: BegunCall,
        result: Result<(), ReactionError>,
    ) -> Result<(), StopReason> {
        let is_over = match result {
            Ok(()) => {
                self.checkpoints.mark_done(subject, call.task);
                self.record_success();
                true
            }
            Err(error) => self.record_failed_call(subject, call, error).await?,
        };
        if is_over && self.checkpoints.holds.find(subject).is_some() {
            self.retry_now.push(subject.clone());
        }
        Ok(())
    }

    /// Holds the subject of a failed call. Returns true if an operator skips the call.
    async fn record_failed_call(
        &mut self,
        subject: &Subject,
        call: BegunCall,
        error: ReactionError,
    ) -> Result<bool, StopReason> {
        let BegunCall { event, task, .. } = call;
        let mut attempts = call.attempts;
        if let Some(held) = self.checkpoints.holds.find_mut(subject)
            && call.holds_subject
            && Some(held.attempts) == attempts
        {
            // The attempt was counted when it began to hold the subject.
            held.attempts = held.attempts.saturating_sub(1);
            attempts = Some(held.attempts);
        }
        let poison = report_failure(&event, &error);
        let recovery = match error.recovery() {
            Recovery::Wait => Recovery::Retry,
            recovery => recovery,
        };
        if self.is_skipped(&poison, subject, recovery) {
            self.checkpoints.mark_done(subject, task);
            return Ok(true);
        }
        self.checkpoints.holds.resume_retry(subject, attempts);
        let at = task.at;
        let failure = StepFailure::new(poison, task, error);
        let held = match at {
            Some(at) => self.hold_at_deadline(subject, failure, at).await,
            None => self.hold_at_event(&event, failure).await,
        };
        self.checkpoints.holds.end_retry();
        held.map(|()| false)
    }

    /// Handles an event whose turn has come. Returns false if a call was begun, for which the event waits.
    pub(super) async fn react_or_hold(
        &mut self,
        event: &RecordedEvent,
    ) -> Result<bool, StopReason> {
        if self.checkpoints.holds.is_waiting(event) {
            self.checkpoints.holds.count(event);
            return Ok(true);
        }
        match self.react(event).await {
            Ok(()) => Ok(true),
            Err(StepFailure::CallRuns) => Ok(false),
            Err(failure) => self.hold_at_event(event, failure).await.map(|()| true),
        }
    }

    /// Lets a call hold its subject if so much is behind it that checkpoints would grow. The call goes on.
    pub(super) async fn hold_hanging_call(&mut self) -> Result<(), StopReason> {
        let Some(subject) = self.calls.find_hanging(self.checkpoints.count_done()) else {
            return Ok(());
        };
        if self.checkpoints.holds.subjects().len() >= MAX_HELD_SUBJECTS {
            return self.finish_next_call().await;
        }
        let Some(BegunCall { event, task, .. }) = self.calls.find(&subject).cloned() else {
            return Ok(());
        };
        let error = ReactionError::from_call_error("it has not ended yet");
        let at = task.at;
        let failure = StepFailure::new(report_failure(&event, &error), task, error);
        match at {
            Some(at) => self.hold_at_deadline(&subject, failure, at).await?,
            None => self.hold_at_event(&event, failure).await?,
        }
        let held = self.checkpoints.holds.find(&subject);
        if let Some(attempts) = held.map(|held| held.attempts) {
            for event in self.calls.begin_hold(&subject, attempts) {
                self.checkpoints.holds.count(&event);
            }
            // This one covers the events and the tasks behind the call.
            self.save_until_stored().await?;
        }
        Ok(())
    }
}
