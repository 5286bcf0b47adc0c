//! Inline read models: an append writes their rows in the transaction of its events.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use sqlx::{PgConnection, Row as _};

use super::{
    Database, DatabaseError, Table,
    batch_fold::{BatchFold, FoldedChanges},
    database::{Checkpoint, TableCheckpoint, event_ids_from_positions, postgres_write},
    row_holds::RowHolds,
};
use es_event::{EventId, RecordedEvent, Upcasters};
use es_store::{EventOpener, StoreError};
use es_store_postgres::{DatabaseIdentity, InlineRows, is_aborted, read_events_between};
use es_subscribe::{HeldKey, HeldKeys, SkippedEvents};

/// The most events that an append applies for events before its own. The projection applies more.
const MAX_MISSING: u64 = 500;
/// The most bytes of these events.
const MAX_MISSING_BYTES: usize = 1 << 20;

/// An append does not wait for a table that somebody else has locked.
const BEGIN: &str = "SET LOCAL lock_timeout = '500ms'; SAVEPOINT es_inline";
const UNDO: &str = "ROLLBACK TO SAVEPOINT es_inline";

/// A checkpoint that the projection writes at the moment is left out: its table lacks events anyway.
const LOCK_CHECKPOINTS: &str = "SELECT definition, position, hash, model, \
     EXISTS (SELECT 1 FROM es_held WHERE es_held.model = es_checkpoint.model) FROM es_checkpoint \
     WHERE model = ANY($1) FOR UPDATE OF es_checkpoint SKIP LOCKED";

/// A table whose checkpoint an append has locked.
struct LockedTable<'a> {
    table: &'a Table,
    checkpoint: Option<Checkpoint>,
    holds_rows: bool,
}

/// Writes the rows of inline read models in the transaction of the events.
///
/// An append writes rows only if their table has this declaration of the read model and contains all events
/// before the append, or lacks only few of them. Otherwise the projection writes the rows, as it does
/// for other read models, and a later append goes on.
struct InlineProjection {
    /// The tables by name, with the shadow tables. Appends keep a shadow table up to date, too, so that
    /// no row disappears when it replaces the current table.
    tables: BTreeMap<String, Table>,
    upcasters: Upcasters,
    opener: Option<Arc<dyn EventOpener>>,
    /// The positions of tables at which an append could not write rows. It tries again when the
    /// projection has moved the checkpoint.
    failures: Mutex<BTreeMap<String, Option<EventId>>>,
}

/// The failure at which an append did not write the rows of an inline read model.
#[derive(Debug, thiserror::Error)]
enum InlineFailure {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a row cannot take an event")]
    NewHold,
}

impl Database {
    /// Returns the writer of inline rows, unless the rows are not in the database of the events.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn create_inline_writer(
        &self,
        events: Option<DatabaseIdentity>,
        upcasters: Upcasters,
        opener: Option<Arc<dyn EventOpener>>,
    ) -> Result<Option<Arc<dyn InlineRows>>, DatabaseError> {
        if events.is_none() || self.identity().await? != events {
            return Ok(None);
        }
        let both = |table: &Table| [table.clone(), table.shadow_table()];
        let tables = self.inline_tables().flat_map(both);
        let named = tables.map(|table| (table.name().into_owned(), table));
        Ok(Some(Arc::new(InlineProjection {
            tables: named.collect(),
            upcasters,
            opener,
            failures: Mutex::default(),
        })))
    }
}

#[async_trait]
impl InlineRows for InlineProjection {
    async fn write(
        &self,
        connection: &mut PgConnection,
        events: &[&RecordedEvent],
    ) -> Result<(), sqlx::Error> {
        sqlx::raw_sql(BEGIN).execute(&mut *connection).await?;
        // Each failure leaves out one more table.
        for _ in 0..=self.tables.len() {
            let written = match self.lock_checkpoints(connection).await {
                Ok(locked) => self.write_tables(connection, locked, events).await,
                // The table of the checkpoints is missing until the first projection has created it. Until then
                // appends write no rows.
                Err(error) => return undo_inline_rows(connection, error.into()).await,
            };
            match written {
                Ok(()) => return Ok(()),
                Err(failure) => undo_inline_rows(connection, failure).await?,
            }
        }
        Ok(())
    }
}

impl InlineProjection {
    /// Writes the rows of all locked tables.
    async fn write_tables(
        &self,
        connection: &mut PgConnection,
        locked: Vec<LockedTable<'_>>,
        events: &[&RecordedEvent],
    ) -> Result<(), InlineFailure> {
        for locked in locked {
            let position = locked.checkpoint.map(|checkpoint| checkpoint.id);
            if self.has_failed_at(locked.table, position) {
                continue;
            }
            let written = self.write_table(connection, &locked, events);
            if let Err(failure) = written.await {
                self.record_failure(locked.table, position, &failure);
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Returns the tables of this declaration whose checkpoints nobody else has locked.
    async fn lock_checkpoints(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Vec<LockedTable<'_>>, DatabaseError> {
        let names: Vec<&str> = self.tables.keys().map(String::as_str).collect();
        let query = sqlx::query(LOCK_CHECKPOINTS).bind(names);
        let mut locked = Vec::new();
        for row in query.fetch_all(connection).await? {
            let name: &str = row.try_get(3)?;
            let stored =
                TableCheckpoint::from_columns(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
            if let Some(table) = self.tables.get(name)
                && stored.is_current(table)
            {
                locked.push(LockedTable {
                    table,
                    checkpoint: stored.checkpoint,
                    holds_rows: row.try_get(4)?,
                });
            }
        }
        Ok(locked)
    }

    /// Writes the rows of one table, unless it lacks too many events.
    async fn write_table(
        &self,
        connection: &mut PgConnection,
        &LockedTable {
            table,
            checkpoint,
            holds_rows,
        }: &LockedTable<'_>,
        events: &[&RecordedEvent],
    ) -> Result<(), InlineFailure> {
        let position = checkpoint.map(|checkpoint| checkpoint.id);
        let Some(missing) = missing_events(connection, position, events).await? else {
            return Ok(());
        };
        let events: Vec<&RecordedEvent> = missing.iter().chain(events.iter().copied()).collect();
        let opened = match &self.opener {
            Some(opener) => {
                opener
                    .open_events(events.iter().copied().cloned().collect())
                    .await?
            }
            None => Vec::new(),
        };
        let events = if opened.is_empty() {
            events
        } else {
            opened.iter().collect()
        };
        let (Some(first), Some(last)) = (events.first(), events.last()) else {
            return Ok(());
        };
        // The table contains events of another log. The projection rebuilds it.
        if checkpoint.is_some_and(|checkpoint| checkpoint.hash != first.predecessor_hash) {
            return Ok(());
        }
        let skipped = if missing.is_empty() {
            // Nobody can have skipped an event that is not committed yet.
            BTreeSet::new()
        } else {
            event_ids_from_positions(
                postgres_write::load_skipped_positions(&mut *connection, table.model.name).await?,
            )
        };
        let skipped = Arc::new(SkippedEvents::new(skipped, Vec::new()));
        let held = load_held_keys(connection, table, holds_rows).await?;
        let mut fold = BatchFold::new(table, RowHolds::new(held, skipped, &[]));
        for event in &events {
            fold.add_event(&self.upcasters, event);
        }
        // The projection holds a row, or skips the event if a selection of an operator names it.
        if fold.has_new_hold() {
            return Err(InlineFailure::NewHold);
        }
        let keys = fold.required_keys();
        let required = if keys.is_empty() {
            Vec::new()
        } else {
            postgres_write::load_rows(connection, table, keys).await?
        };
        let FoldedChanges::Complete(changes) = fold.finish(table, required)? else {
            return Err(InlineFailure::NewHold);
        };
        postgres_write::write_rows(connection, table, changes).await?;
        let checkpoint = Checkpoint::from_event(last);
        postgres_write::write_checkpoint(connection, table, Some(checkpoint)).await?;
        Ok(())
    }

    fn has_failed_at(&self, table: &Table, position: Option<EventId>) -> bool {
        let failures = self.failures.lock();
        let failures = failures.unwrap_or_else(PoisonError::into_inner);
        failures.get(&*table.name()) == Some(&position)
    }

    /// Leaves the rows to the projection, which holds a row that cannot take an event.
    fn record_failure(&self, table: &Table, position: Option<EventId>, failure: &InlineFailure) {
        if matches!(failure, InlineFailure::Database(DatabaseError::Postgres(error)) if is_aborted(error))
        {
            return;
        }
        tracing::warn!(
            read_model = table.model.name,
            error = %failure,
            "an append could not write inline rows and leaves them to the projection"
        );
        let failures = self.failures.lock();
        let mut failures = failures.unwrap_or_else(PoisonError::into_inner);
        failures.insert(table.name().into_owned(), position);
    }
}

impl fmt::Debug for InlineProjection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tables = self.tables.keys();
        f.debug_set().entries(tables).finish()
    }
}

/// Loads the keys that a table holds, if it holds some.
async fn load_held_keys(
    connection: &mut PgConnection,
    table: &Table,
    holds_rows: bool,
) -> Result<HeldKeys, DatabaseError> {
    if !holds_rows {
        return Ok(HeldKeys::default());
    }
    let rows = postgres_write::load_held_rows(connection, table).await?;
    Ok(rows.into_iter().map(HeldKey::from).collect())
}

/// Undoes the inline rows, so that the append continues without them.
///
/// # Errors
/// The whole transaction has to be repeated.
async fn undo_inline_rows(
    connection: &mut PgConnection,
    failure: InlineFailure,
) -> Result<(), sqlx::Error> {
    match failure {
        InlineFailure::Database(DatabaseError::Postgres(error)) if is_aborted(&error) => Err(error),
        // A broken connection fails here.
        _ => sqlx::raw_sql(UNDO).execute(connection).await.map(drop),
    }
}

/// Returns the events between a position and the events of an append, or `None` if there are too many or if the
/// position is not before the append.
async fn missing_events(
    connection: &mut PgConnection,
    position: Option<EventId>,
    events: &[&RecordedEvent],
) -> Result<Option<Vec<RecordedEvent>>, DatabaseError> {
    let next = position.map_or(Some(EventId::FIRST), EventId::next);
    let (Some(next), Some(first)) = (next, events.first().map(|event| event.id)) else {
        return Ok(None);
    };
    match first.get().checked_sub(next.get()) {
        Some(0) => Ok(Some(Vec::new())),
        Some(1..=MAX_MISSING) => {
            Ok(read_events_between(connection, next, first, MAX_MISSING_BYTES).await?)
        }
        // A position at or after the new events belongs to another log.
        Some(_) | None => Ok(None),
    }
}
