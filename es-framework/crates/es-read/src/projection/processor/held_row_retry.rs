//! Retries held rows: reads their events again, from those at which they are held.

use futures_util::StreamExt as _;

use super::{
    super::{
        RowIdentity, Table, batch_computation::BatchComputation,
        pipeline_read_model::PipelineReadModel, recomputed_rows::RecomputedRows,
        row_changes::RowChanges,
    },
    CATCH_UP_BATCH, Processor, ProcessorStartError,
};
use es_event::{EventId, EventSelection, Subject};
use es_store::{Bound, EventStream, ReadOptions};
use es_subscribe::{HeldKey, HeldKeyId, HeldKeyKind, HeldKeys, SubscriberProgress};

/// Returns true if a held key stands for known rows, so that its events can be read again without a rebuild.
pub(super) fn holds_one_row(table: &Table, held: &HeldKey) -> bool {
    held.kind == HeldKeyKind::Row || table.model.identity == RowIdentity::Event
}

impl Processor {
    /// Retries all held rows. Returns true if rows were released. A failure is logged, and the rows stay held.
    pub(super) async fn retry_all_held_rows(&self) -> bool {
        let mut is_any_released = false;
        for table in self.models.iter() {
            let Some(progress) = self.positions.find_progress(table.model.name) else {
                continue;
            };
            match self.retry_held_rows(table, progress, None).await {
                Ok((_, released)) => is_any_released |= released > 0,
                Err(error) => {
                    let read_model = table.model.name;
                    tracing::warn!(read_model, %error, "the held rows of a read model are not retried");
                }
            }
        }
        is_any_released
    }

    /// Retries the selected rows of a table, or all of them, while no pipeline runs. Returns the number of selected
    /// keys, and of those that are held no longer.
    pub(super) async fn retry_held_rows(
        &self,
        table: &Table,
        progress: &SubscriberProgress,
        selection: Option<&EventSelection>,
    ) -> Result<(usize, usize), ProcessorStartError> {
        let held = progress.held_keys();
        let selected = || held.iter().filter(|held| held.is_selected(selection));
        let known = selected().filter(|held| holds_one_row(table, held));
        let rows: HeldKeys = known.cloned().collect();
        let released = self.replay(table, progress, &rows).await?;
        Ok((selected().count(), released))
    }

    /// Computes held rows from the events since their holds, and writes them in one transaction. Returns the number of
    /// keys that are held no longer.
    async fn replay(
        &self,
        table: &Table,
        progress: &SubscriberProgress,
        rows: &HeldKeys,
    ) -> Result<usize, ProcessorStartError> {
        if rows.is_empty() {
            return Ok(0);
        }
        let stored = self.database.load_checkpoint(table).await?;
        let current = stored.filter(|stored| stored.is_current(table));
        let Some(to) = current.and_then(|stored| stored.checkpoint) else {
            return Ok(0);
        };
        let skipped = self.load_skipped_events(table).await?;
        let model = PipelineReadModel::new(table.clone(), progress.clone(), skipped);
        let changes = self.compute_rows(&model, rows, to.event).await?;
        let (held, released) = (changes.held.clone(), changes.released.clone());
        self.database.write_batch(table, changes, to).await?;
        let keys = progress.held_keys().with_changes(&held, &released);
        progress.record_held_keys(keys);
        Ok(released.len())
    }

    /// Computes held rows from the events from their holds to the checkpoint.
    async fn compute_rows(
        &self,
        model: &PipelineReadModel,
        rows: &HeldKeys,
        to: EventId,
    ) -> Result<RowChanges, ProcessorStartError> {
        let before = model.progress.held_keys();
        let ids: Vec<HeldKeyId> = rows.iter().map(|row| row.id.clone()).collect();
        let mut held = before.with_changes(&[], &ids);
        let mut recomputed = RecomputedRows::default();
        for events in self.events_of_rows(&model.table, rows, to) {
            let mut batches = events.ready_chunks(CATCH_UP_BATCH);
            while let Some(batch) = batches.next().await {
                let events = batch.into_iter().collect::<Result<Vec<_>, _>>()?;
                let mut batch = BatchComputation {
                    database: &self.database,
                    upcasters: &self.upcasters,
                    model,
                    events: &events,
                    held: held.clone(),
                    prepared: None,
                    again: Some((rows, &recomputed)),
                    late: Vec::new(),
                    excess: None,
                };
                let changes = loop {
                    let changes = batch.compute().await?;
                    if !batch.hold_refused_rows(changes.clone()).await? {
                        break changes;
                    }
                };
                held = held.with_changes(&changes.held, &[]);
                recomputed.add(&model.table, changes);
            }
        }
        let still_held: Vec<HeldKey> = rows
            .iter()
            .filter_map(|row| held.find(&row.id).cloned())
            .collect();
        let is_released = |id: &HeldKeyId| held.find(id).is_none();
        let released = ids.into_iter().filter(is_released).collect();
        Ok(recomputed.into_changes(still_held, released))
    }

    /// Returns the events of held rows: those of their subjects if each event of the read model tells its row by its
    /// subject, and all events that the read model applies otherwise.
    fn events_of_rows(&self, table: &Table, rows: &HeldKeys, to: EventId) -> Vec<EventStream> {
        let model = &table.model;
        let mut in_subject = model.events.iter();
        let is_by_subject = model.identity == RowIdentity::Event
            || in_subject.all(|event| model.events_of_subject.contains(event));
        let options_from = |from: EventId| ReadOptions {
            lower_bound: Some(Bound::Inclusive(from)),
            upper_bound: Some(Bound::Inclusive(to)),
            ..ReadOptions::default()
        };
        let subjects: Option<Vec<Subject>> =
            rows.iter().map(|row| row.poison.subject.clone()).collect();
        if let Some(subjects) = subjects.filter(|_| is_by_subject) {
            let streams = rows.iter().zip(subjects);
            let read = |(row, subject): (&HeldKey, _)| {
                self.store.read(subject, options_from(row.poison.id))
            };
            return streams.map(read).collect();
        }
        let first = rows.iter().map(|row| row.poison.id).min();
        let options = ReadOptions {
            recursive: true,
            event_types: self
                .upcasters
                .with_stored_types(model.events.iter().copied()),
            ..options_from(first.unwrap_or(EventId::FIRST))
        };
        vec![self.store.read(Subject::root(), options)]
    }
}
