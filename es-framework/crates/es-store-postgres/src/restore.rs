//! Writes events exactly as another store recorded them: with their ids, times and hashes.

use futures_util::future::LocalBoxFuture;
use sqlx::PgConnection;
use tokio::time::timeout;

use super::{
    database_error::{DatabaseError, PostgresOpenError},
    event_insertion,
    log_head::{self, LogHead},
    migration, row,
    store_address::StoreAddress,
    store_limits::StoreLimits,
};
use es_event::{EventId, EventType, RecordedEvent};
use es_sql::postgres::{Remedy, RetrySchedule};
use es_store::{
    Chain,
    backup::{BackupLine, RestoreCheck, RestoreFlaw, RestoredLine},
    event_row::compute_schema_checksum,
    write::ChainHead,
};

/// The number of events in one transaction.
const BATCH: usize = 2_000;
/// The number of bytes in one transaction, not counting the last event.
const BATCH_BYTES: usize = 8 << 20;

const ADD_SCHEMA: &str = "INSERT INTO es_event_types (type, schema, schema_number, schema_checksum) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (type) DO UPDATE SET schema = excluded.schema, \
     schema_number = excluded.schema_number, schema_checksum = excluded.schema_checksum \
     WHERE es_event_types.schema IS NULL";

/// A copy of a log into a PostgreSQL database. After an interruption, the next one continues behind
/// the last event that is stored.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use es_store_postgres::PostgresRestore;
///
/// let mut restore = PostgresRestore::begin_or_continue(&"postgres://db/library".parse()?).await?;
/// // `restore.add_line(line).await?` for each line of a backup after `restore.chain()`
/// println!("{} events", restore.finish().await?.events());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PostgresRestore {
    connection: PgConnection,
    address: String,
    check: RestoreCheck,
    /// The chain up to the last stored event.
    stored: Chain,
    batch: Vec<RecordedEvent>,
    batch_bytes: usize,
}

/// The reason why a log was not copied.
///
/// ```
/// use es_store::backup::RestoreFlaw;
/// use es_store_postgres::PostgresRestoreError;
///
/// let error = PostgresRestoreError::Source(RestoreFlaw::Incomplete("disk failure".into()));
/// assert_eq!(error.to_string(), "the source is not whole, its store said: disk failure");
/// ```
#[derive(Debug, thiserror::Error)]
pub enum PostgresRestoreError {
    /// The database cannot be used.
    #[error(transparent)]
    Open(#[from] PostgresOpenError),
    /// The lines are not those that the source wrote.
    #[error("the source {0}")]
    Source(#[from] RestoreFlaw),
    /// Another program wrote events at the same time.
    #[error("the {0} received other events during the copy: copy into one that nobody uses")]
    Concurrent(String),
    /// The events cannot be written.
    #[error("cannot write to the {0}: {1}")]
    Write(String, String),
}

impl PostgresRestore {
    /// Connects to the database, and creates the tables if they are missing. A database with events is continued
    /// behind its last one.
    ///
    /// # Errors
    /// The database cannot be used.
    pub fn begin_or_continue(
        address: &StoreAddress,
    ) -> LocalBoxFuture<'_, Result<Self, PostgresRestoreError>> {
        Box::pin(async move {
            let (connection, head) = open_log(address).await.map_err(PostgresOpenError::from)?;
            let chain = Chain::at(EventId::count_to(head.last), head.chain.predecessor);
            Ok(Self {
                connection,
                address: address.to_string(),
                stored: chain.clone(),
                check: RestoreCheck::of_store(chain),
                batch: Vec::new(),
                batch_bytes: 0,
            })
        })
    }

    /// Returns the end of the chain, behind which the copy continues.
    #[must_use]
    pub const fn chain(&self) -> &Chain {
        self.check.chain()
    }

    /// Adds the next line of a backup.
    ///
    /// # Errors
    /// The line breaks the hash chain or cannot be written.
    pub fn add_line(
        &mut self,
        line: BackupLine,
    ) -> LocalBoxFuture<'_, Result<(), PostgresRestoreError>> {
        Box::pin(async move {
            match self.check.check_line(line)? {
                Some(RestoredLine::Event(event)) => self.add_event(*event).await,
                Some(RestoredLine::Schema(event_type, schema)) => {
                    let added = run_transaction(&mut self.connection, async |connection| {
                        add_schema(connection, &event_type, schema.json().get()).await
                    })
                    .await;
                    added.map_err(|error| self.failed(&error))
                }
                None => Ok(()),
            }
        })
    }

    async fn add_event(&mut self, event: RecordedEvent) -> Result<(), PostgresRestoreError> {
        let ancestors = event_insertion::ancestors_below_root(event.subject.as_str()).map(str::len);
        let size = ancestors.fold(event.data.get().len(), usize::saturating_add);
        self.batch_bytes = self.batch_bytes.saturating_add(size);
        self.batch.push(event);
        if self.batch.len() >= BATCH || self.batch_bytes >= BATCH_BYTES {
            self.write().await?;
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), PostgresRestoreError> {
        let Some(last) = self.batch.last() else {
            return Ok(());
        };
        let time = last.time.timestamp().map_err(|error| {
            PostgresRestoreError::Write(self.address.clone(), error.to_string())
        })?;
        let head = ChainHead {
            next: last.id.next(),
            predecessor: last.hash,
            time,
        };
        let written = self.write_batch(&head).await;
        if !written.map_err(|error| self.failed(&error))? {
            return Err(PostgresRestoreError::Concurrent(self.address.clone()));
        }
        self.stored = self.chain().clone();
        self.batch.clear();
        self.batch_bytes = 0;
        Ok(())
    }

    /// Writes the events of a batch. Returns false if the log has other events by now.
    async fn write_batch(&mut self, head: &ChainHead) -> Result<bool, DatabaseError> {
        let Self {
            connection,
            stored,
            batch,
            ..
        } = self;
        run_transaction(connection, async |connection| {
            let found = log_head::begin_and_lock(connection).await?;
            found.check_open()?;
            let events = EventId::count_to(found.last);
            if events != stored.events() || found.chain.predecessor != stored.hash() {
                log_head::roll_back(connection).await?;
                return Ok(false);
            }
            // No service may use the tables before the copy is whole: it would write other events.
            migration::begin_copy(connection).await?;
            event_insertion::insert_events(connection, batch.iter(), head).await?;
            log_head::commit(connection).await?;
            Ok(true)
        })
        .await
    }

    /// Writes the last events, and lets services open the store. Returns the end of the chain.
    ///
    /// # Errors
    /// The events cannot be written.
    pub fn finish(mut self) -> LocalBoxFuture<'static, Result<Chain, PostgresRestoreError>> {
        Box::pin(async move {
            self.write().await?;
            let ended = run_transaction(&mut self.connection, migration::end_copy).await;
            ended.map_err(|error| self.failed(&error))?;
            Ok(self.stored)
        })
    }

    fn failed(&self, error: &DatabaseError) -> PostgresRestoreError {
        PostgresRestoreError::Write(self.address.clone(), error.to_string())
    }
}

/// Connects to the database, and creates the tables if they are missing. A database with events is continued
/// behind its last one. Returns the connection and the end
/// of the log.
async fn open_log(address: &StoreAddress) -> Result<(PgConnection, LogHead), DatabaseError> {
    let limits = StoreLimits::default();
    let found = address.await_connection(&limits).await?;
    let mut connection = found.connection;
    migration::migrate(&mut connection, &limits).await?;
    let head = run_transaction(&mut connection, async |connection| {
        let head = log_head::begin_and_lock(connection).await?;
        log_head::roll_back(connection).await?;
        Ok(head)
    })
    .await?;
    Ok((connection, head))
}

/// Runs a transaction, and repeats it after a serialization failure.
async fn run_transaction<T>(
    connection: &mut PgConnection,
    mut transaction: impl AsyncFnMut(&mut PgConnection) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    let limits = StoreLimits::default();
    let mut schedule = RetrySchedule::new(limits.retry_time);
    loop {
        let attempt = timeout(limits.write_time, transaction(connection)).await;
        match attempt.unwrap_or(Err(DatabaseError::Timeout)) {
            Err(error) if error.remedy() == Remedy::Repeat => {
                let rolled_back = timeout(limits.write_time, log_head::roll_back(connection)).await;
                rolled_back.unwrap_or(Err(DatabaseError::Timeout))?;
                if !schedule.wait(error.remedy()).await {
                    return Err(error);
                }
            }
            result => return result,
        }
    }
}

async fn add_schema(
    connection: &mut PgConnection,
    event_type: &EventType,
    schema: &str,
) -> Result<(), DatabaseError> {
    let head = log_head::begin_and_lock(connection).await?;
    let added = sqlx::query(ADD_SCHEMA)
        .bind(event_type.as_str())
        .bind(schema)
        .bind(row::number(head.schemas))
        .bind(compute_schema_checksum(event_type, schema))
        .execute(&mut *connection)
        .await?;
    if added.rows_affected() > 0 {
        migration::begin_copy(connection).await?;
        log_head::add_schema(connection).await?;
    }
    log_head::commit(connection).await
}
