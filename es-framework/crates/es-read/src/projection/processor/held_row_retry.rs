//! Retries held rows: reads their events again, from those at which they are held.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;

use super::{
    super::{
        RowIdentity, RowKey, Table,
        batch_fold::FoldedChanges,
        pipeline_read_model::PipelineReadModel,
        row_changes::{RowChanges, RowVersion, TableRow},
        row_holds::LateFailure,
    },
    CATCH_UP_BATCH, DatabaseError, Processor, ProcessorStartError,
};
use es_event::{EventId, EventSelection, RecordedEvent, Subject};
use es_store::{Bound, EventStream, ReadOptions};
use es_subscribe::{HeldKey, HeldKeyId, HeldKeyKind, HeldKeys, SubscriberProgress};

/// Returns true if a held key stands for known rows, so that its events can be read again without a rebuild.
pub(super) fn holds_one_row(table: &Table, held: &HeldKey) -> bool {
    held.kind == HeldKeyKind::Row || table.model.identity == RowIdentity::Event
}

/// Rows that are computed anew in memory, until one transaction writes them.
#[derive(Default)]
struct ReplayedRows {
    /// The rows with keys. `None` stands for a row that the events removed.
    keyed: BTreeMap<RowKey, Option<RowVersion>>,
    changes: RowChanges,
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
        let selected = held.iter().filter(|held| held.is_selected(selection));
        let selected: Vec<&HeldKey> = selected.collect();
        let count = selected.len();
        let rows = selected.into_iter();
        let rows = rows.filter(|held| holds_one_row(table, held));
        let rows: HeldKeys = rows.cloned().collect();
        let released = self.replay(table, progress, &rows).await?;
        Ok((count, released))
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
        let stored = stored.filter(|stored| stored.is_current(table));
        let Some(to) = stored.and_then(|stored| stored.checkpoint) else {
            return Ok(0);
        };
        let skipped = self.load_skipped_events(table).await?;
        let model = PipelineReadModel::new(table.clone(), progress.clone(), skipped);
        let changes = self.compute_rows(&model, rows, to.id).await?;
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
        let mut replayed = ReplayedRows::default();
        for events in self.events_of_rows(&model.table, rows, to) {
            let mut batches = events.ready_chunks(CATCH_UP_BATCH);
            while let Some(batch) = batches.next().await {
                let events = batch.into_iter().collect::<Result<Vec<_>, _>>()?;
                let changes = self
                    .fold_again(model, rows, &held, &events, &mut replayed)
                    .await?;
                held = held.with_changes(&changes.held, &[]);
                replayed.add(&model.table, changes);
            }
        }
        let still_held = rows.iter().filter_map(|row| held.find(&row.id)).cloned();
        let still_held: Vec<HeldKey> = still_held.collect();
        let is_released = |id: &HeldKeyId| held.find(id).is_none();
        let released = ids.into_iter().filter(is_released).collect();
        Ok(replayed.into_changes(still_held, released))
    }

    /// Returns the events of held rows: those of their subjects if each event of the read model tells its row by its
    /// subject, and all events that the read model applies otherwise.
    fn events_of_rows(&self, table: &Table, rows: &HeldKeys, to: EventId) -> Vec<EventStream> {
        let model = &table.model;
        let mut in_subject = model.events.iter();
        let is_by_subject = model.identity == RowIdentity::Event
            || in_subject.all(|event| model.events_of_subject.contains(event));
        let options = |from: EventId| ReadOptions {
            lower_bound: Some(Bound::Inclusive(from)),
            upper_bound: Some(Bound::Inclusive(to)),
            ..ReadOptions::default()
        };
        let subjects = rows.iter().map(|row| row.poison.subject.clone());
        let subjects: Option<Vec<Subject>> = subjects.collect();
        if let Some(subjects) = subjects.filter(|_| is_by_subject) {
            let streams = rows.iter().zip(subjects);
            let read =
                |(row, subject): (&HeldKey, _)| self.store.read(subject, options(row.poison.id));
            return streams.map(read).collect();
        }
        let first = rows.iter().map(|row| row.poison.id).min();
        let options = ReadOptions {
            recursive: true,
            event_types: self
                .upcasters
                .with_stored_types(model.events.iter().copied()),
            ..options(first.unwrap_or(EventId::FIRST))
        };
        vec![self.store.read(Subject::root(), options)]
    }

    /// Folds events into held rows only.
    async fn fold_again(
        &self,
        model: &PipelineReadModel,
        rows: &HeldKeys,
        held: &HeldKeys,
        events: &[RecordedEvent],
        replayed: &mut ReplayedRows,
    ) -> Result<RowChanges, ProcessorStartError> {
        let mut late: Vec<LateFailure> = Vec::new();
        loop {
            let from_hold = rows.iter().map(|row| (row.id.clone(), row.poison.id));
            let holds = model.row_holds(held.clone(), &late).select(from_hold);
            let fold = model.fold_with_holds(&self.upcasters, events, holds);
            let required = replayed
                .load(self, &model.table, fold.required_keys())
                .await?;
            match fold.finish(&model.table, required)? {
                FoldedChanges::Complete(changes) => {
                    let tried = changes.clone();
                    let refused = self.database.find_refusals(&model.table, tried).await?;
                    if refused.is_empty() {
                        return Ok(changes);
                    }
                    late.extend(refused);
                }
                FoldedChanges::Incomplete(failures) => late.extend(failures),
            }
        }
    }
}

impl ReplayedRows {
    /// Returns the rows with these keys, as earlier batches left them.
    async fn load(
        &mut self,
        processor: &Processor,
        table: &Table,
        keys: Vec<RowKey>,
    ) -> Result<Vec<TableRow>, DatabaseError> {
        let mut rows = Vec::new();
        let mut stored = Vec::new();
        for key in keys {
            match self.keyed.get(&key) {
                Some(version) => rows.extend(version.clone().map(|version| version.row)),
                None => stored.push(key),
            }
        }
        rows.extend(processor.database.load_rows(table, stored).await?);
        Ok(rows)
    }

    fn add(&mut self, table: &Table, changes: RowChanges) {
        for (event, key) in changes.removed {
            self.keyed.insert(key.clone(), None);
            self.changes.removed.push((event, key));
        }
        for mut version in changes.rows {
            let model = &table.model;
            match model.identity.find_key(model.columns, &version.row.cells) {
                Some(key) => {
                    // A row that was not loaded has the place of a new one.
                    if let Some(Some(before)) = self.keyed.get(&key) {
                        version.row.place = before.row.place;
                    }
                    self.keyed.insert(key, Some(version));
                }
                None => self.changes.rows.push(version),
            }
        }
    }

    fn into_changes(self, held: Vec<HeldKey>, released: Vec<HeldKeyId>) -> RowChanges {
        let Self { keyed, mut changes } = self;
        changes.rows.extend(keyed.into_values().flatten());
        changes
            .rows
            .sort_unstable_by_key(|version| version.row.place);
        RowChanges {
            held,
            released,
            ..changes
        }
    }
}
