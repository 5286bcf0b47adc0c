//! The computation of the changes of a batch: it is folded again, with more rows held, until no row fails any more.

use super::{
    Database, DatabaseError, PoisonEvent,
    batch_fold::{BatchFold, FoldedChanges},
    pipeline_read_model::PipelineReadModel,
    recomputed_rows::RecomputedRows,
    row_changes::RowChanges,
    row_holds::{LateFailure, RowHolds},
};
use es_event::{RecordedEvent, Upcasters};
use es_subscribe::HeldKeys;

/// The computation of the changes that a batch of events makes to one read model.
pub(super) struct BatchComputation<'a> {
    pub(super) database: &'a Database,
    pub(super) upcasters: &'a Upcasters,
    pub(super) model: &'a PipelineReadModel,
    pub(super) events: &'a [RecordedEvent],
    /// The keys that are held before the batch.
    pub(super) held: HeldKeys,
    /// The fold of the batch, if it is prepared.
    pub(super) prepared: Option<BatchFold>,
    /// The rows that were held before and are computed again, and what earlier batches made of them.
    pub(super) again: Option<(&'a HeldKeys, &'a RecomputedRows)>,
    /// The failures that showed late so far.
    pub(super) late: Vec<LateFailure>,
    /// The event at which one more row would be held than the limit allows. The events from there on are left out.
    pub(super) excess: Option<PoisonEvent>,
}

impl BatchComputation<'_> {
    /// Computes the changes.
    pub(super) async fn compute(&mut self) -> Result<RowChanges, DatabaseError> {
        loop {
            let folded = self.prepared.take().unwrap_or_else(|| self.fold());
            if let Some(poison) = folded.excess() {
                let until = self.events.partition_point(|event| event.id < poison.id);
                self.events = self.events.get(..until).unwrap_or_default();
                self.excess = Some(poison.clone());
                continue;
            }
            let (table, keys) = (&self.model.table, folded.required_keys());
            let required = match self.again {
                Some((_, rows)) => rows.load(self.database, table, keys).await?,
                None => self.database.load_rows(table, keys).await?,
            };
            match folded.finish(table, required)? {
                FoldedChanges::Complete(changes) => return Ok(changes),
                FoldedChanges::Incomplete(failures) => self.late.extend(failures),
            }
        }
    }

    /// Holds the rows that the database refuses. Returns false if it refuses none, so that the changes are final.
    pub(super) async fn hold_refused_rows(
        &mut self,
        changes: RowChanges,
    ) -> Result<bool, DatabaseError> {
        let table = &self.model.table;
        let refused = self.database.find_refusals(table, changes).await?;
        let is_any = !refused.is_empty();
        self.late.extend(refused);
        Ok(is_any)
    }

    fn fold(&self) -> BatchFold {
        let (held, skipped) = (self.held.clone(), self.model.skipped.clone());
        let all = RowHolds::new(held, skipped, &self.late);
        let holds = match self.again {
            Some((rows, _)) => all.select(rows),
            None => all,
        };
        self.model.fold(self.upcasters, self.events, holds)
    }
}
