//! A reaction meets deadlines: those that are due, after everything was taken that might cancel them.

use super::{deadlines::Due, perform::Consequence, reactor::Reactor, stopped::Failed};
use crate::store::{event_with_id, newest_id};

impl Reactor {
    /// Does what is due.
    pub(super) async fn meet_deadlines(&mut self) -> Result<(), Failed> {
        if self.deadlines.lacks_the_next() {
            let progress = self.progress();
            self.resume(&progress).await?;
        }
        let now = self.performer.ground.services.clock().now();
        if self.deadlines.due(now).is_none() {
            return Ok(());
        }
        let first_to = match self.first_to {
            Some(first_to) => first_to,
            None => newest_id(&*self.performer.ground.store).await?,
        };
        self.first_to = Some(first_to);
        while let Some(due) = self.deadlines.due(now) {
            // Another instance may have come further, and what it notes is no less than that.
            let others = self
                .checkpoints
                .progress()
                .and_then(|others| others.position);
            if self.position < first_to.max(others) {
                return Ok(());
            }
            self.meet(due).await?;
        }
        self.first_to = None;
        Ok(())
    }

    async fn meet(&mut self, due: Due) -> Result<(), Failed> {
        let Due { step, view, .. } = due;
        let event = event_with_id(&*self.performer.ground.store, due.event).await?;
        if let Some(event) = event {
            let consequence = Consequence { step, view };
            self.perform(&event, consequence, Some(due.at)).await?;
        }
        self.deadlines.close(due);
        self.is_dirty = true;
        if self.checkpoints.is_owed() {
            self.note().await?;
        }
        Ok(())
    }
}
