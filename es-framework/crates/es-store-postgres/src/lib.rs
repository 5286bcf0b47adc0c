//! PostgreSQL as event store: one log for any number of instances on several machines.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::unwrap_used))]

mod batch_transaction;
mod damage_record;
mod damage_settlement;
mod database_error;
mod event_catalogue;
mod event_insertion;
mod event_selection;
mod event_type_listing;
mod latest_lookup;
mod log_head;
mod log_monitor;
mod log_reader;
mod log_writer;
mod lost_events;
mod migration;
mod postgres_store_options;
mod read_pool;
mod restore;
mod row;
mod row_upgrade;
mod running_writer;
mod scan_statement;
mod schema_registration;
mod seen_event;
mod server_connection;
mod store_address;
mod store_limits;
mod store_state;
mod store_version;
mod subject_listing;
mod table_check;
mod table_monitor;
mod table_rebuild;

use std::{fmt::Display, sync::Arc};

use async_trait::async_trait;
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    future::{BoxFuture, LocalBoxFuture},
    stream,
};
use tokio::sync::oneshot;

use self::{
    damage_settlement::{PlacesReadStep, SettlementStep},
    event_type_listing::{EventTypeReadStep, EventTypesReadStep},
    log_reader::LogReader,
    read_pool::ReadPool,
    running_writer::RunningWriter,
    schema_registration::{EventsOfTypeReadStep, check_events},
    store_limits::StoreLimits,
    store_state::StoreState,
    table_rebuild::RebuildStep,
};
use es_event::{EventCandidate, EventType, RecordedEvent, Subject};
use es_store::{
    AppendError, DamageSettlement, EventLog, EventSchema, EventStream, EventTypeStream,
    KnownEventType, LogDamage, ObserveOptions, Precondition, ReadOptions, RegisterError,
    StoreCatalog, StoreError, SubjectStream, VerificationScope, schema_work,
    write::{QueuedAppend, QueuedTask, candidate_size, precondition_size},
};

pub use database_error::PostgresOpenError;
pub use es_sql::postgres::UnsafeServer;
pub use postgres_store_options::PostgresStoreOptions;
pub use restore::{PostgresRestore, PostgresRestoreError};
pub use store_address::{InvalidStoreAddress, StoreAddress};

/// An event store in a PostgreSQL database. Several instances may have it open.
///
/// Clones share the store. When the last clone is dropped, or one is closed, the writer writes the
/// waiting appends and ends.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use es_store::StoreCatalog as _;
/// use es_store_postgres::PostgresStore;
///
/// let store = PostgresStore::open("postgres://library@db-1,db-2/library".parse()?).await?;
/// store.health().await?;
/// store.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct PostgresStore {
    writer: Arc<RunningWriter>,
    reader: LogReader,
}

impl PostgresStore {
    /// Connects to the database, and creates the tables if they are missing.
    ///
    /// # Errors
    /// No server accepts writes, the server is too old or may lose confirmed events, or the tables
    /// cannot be used.
    pub fn open(address: StoreAddress) -> LocalBoxFuture<'static, Result<Self, PostgresOpenError>> {
        Self::open_with_options(address, PostgresStoreOptions::default())
    }

    /// Connects to the database, and creates the tables if they are missing.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with_options(
        address: StoreAddress,
        options: PostgresStoreOptions,
    ) -> LocalBoxFuture<'static, Result<Self, PostgresOpenError>> {
        Box::pin(async move {
            let mut limits = StoreLimits::default();
            limits.poll_time = options.poll_time.unwrap_or(limits.poll_time);
            let mut found = address.await_connection(&limits).await?;
            let connection = &mut found.connection;
            address
                .refuse_transaction_pool(connection, found.server)
                .await?;
            let catalogue = migration::open_tables(connection, &limits).await?;
            let state = StoreState::new(address, limits, catalogue, found.server);
            let state = Arc::new(state);
            let reader = LogReader {
                pool: Arc::new(ReadPool::new(&limits)),
                state: Arc::clone(&state),
            };
            let failed = |error: &dyn Display| PostgresOpenError::Tables(error.to_string());
            let length = reader.read_length().await.map_err(|error| failed(&error))?;
            state.publish(length);
            if !options.skip_verification {
                migration::check_rights(&mut found.connection, &limits).await?;
            }
            let writer = RunningWriter::start(state, found).map_err(|error| failed(&error))?;
            let writer = Arc::new(writer);
            let store = Self { writer, reader };
            if !options.skip_verification {
                let verified = table_monitor::verify_newest(&store).await;
                verified.map_err(|error| failed(&error))?;
                let (writer, reader) = (Arc::downgrade(&store.writer), store.reader.clone());
                tokio::spawn(table_monitor::verify_daily(writer, reader));
            }
            Ok(store)
        })
    }

    /// Builds the tables that follow from the events again. A verification opens the log then.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn rebuild_tables(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let LogReader { pool, state } = &self.reader;
            pool.run_step(state, &RebuildStep).await
        })
    }

    /// Checks the stored events against a new schema, so that the lock of the log is not held for it.
    async fn check_stored_events(
        &self,
        event_type: &EventType,
        schema: &Arc<EventSchema>,
        last: u64,
    ) -> Result<(), RegisterError> {
        let LogReader { pool, state } = &self.reader;
        let mut read = EventsOfTypeReadStep {
            event_type: event_type.clone(),
            next: 0,
            last,
        };
        loop {
            let events = pool.run_step(state, &read).await?;
            let schema = Arc::clone(schema);
            let checked =
                schema_work::run_on_blocking_thread(move || check_events(&schema, &events, None))
                    .await?;
            match checked? {
                Some(next) => read.next = next,
                None => return Ok(()),
            }
        }
    }

    /// Writes the waiting appends and rejects further ones.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

/// Returns the size of an event and of its rows for the subjects above its own. A deep subject has many.
fn stored_size(candidate: &EventCandidate) -> usize {
    let subject = candidate.subject.as_str();
    let ancestors = event_insertion::ancestors_below_root(subject).map(str::len);
    ancestors.fold(candidate_size(candidate), usize::saturating_add)
}

/// Refuses a character that PostgreSQL cannot store. It would fail a whole batch.
fn check_texts(candidates: &[EventCandidate]) -> Result<(), StoreError> {
    let is_broken = candidates
        .iter()
        .any(|candidate| candidate.source.contains('\0'));
    if is_broken {
        Err(StoreError::Refused(
            "a source contains the character U+0000, which PostgreSQL cannot store".into(),
        ))
    } else {
        Ok(())
    }
}

#[async_trait]
impl EventLog for PostgresStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let sizes = candidates.iter().map(stored_size);
        let bytes = sizes.chain(preconditions.iter().map(precondition_size));
        let bytes = bytes.fold(0, usize::saturating_add);
        check_texts(&candidates)?;
        let state = &self.writer.state;
        let catalogue = state.catalogue();
        let candidates = schema_work::check_candidates(&catalogue, candidates).await?;
        let permit = self.writer.admission.reserve_queue_space(bytes).await?;
        let (answer, answered) = oneshot::channel();
        self.writer
            .admission
            .push_task(QueuedTask::Append(QueuedAppend {
                candidates,
                preconditions,
                bytes,
                schemas: catalogue.schemas(),
                answer,
                permit,
            }))?;
        let outcome = self
            .writer
            .await_answer(answered, state.limits.write_time)
            .await;
        // The writer may still write the events.
        outcome.unwrap_or_else(|| {
            Err(AppendError::Unknown {
                address: state.description.clone(),
                reason: "the server did not confirm the events in time".into(),
            })
        })
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        self.reader.clone().read_events(subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        self.reader.clone().observe_events(subject, options)
    }
}

#[async_trait]
impl StoreCatalog for PostgresStore {
    fn read_subjects(&self, base: Subject) -> SubjectStream {
        self.reader.clone().list_subjects(base)
    }

    async fn read_child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        self.reader.child_subjects(base, after, limit).await
    }

    fn read_event_types(&self) -> EventTypeStream {
        let LogReader { pool, state } = self.reader.clone();
        let listed = async move { pool.run_step(&state, &EventTypesReadStep).await };
        let types = stream::once(listed).map_ok(|types| stream::iter(types).map(Ok));
        types.try_flatten().boxed()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        let LogReader { pool, state } = &self.reader;
        pool.run_step(state, &EventTypeReadStep(event_type)).await
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        let catalogue = self.writer.state.catalogue();
        catalogue.check_new_schema(&event_type, &schema)?;
        let schema = Arc::new(schema);
        let _permit = self.writer.admission.reserve_registration().await?;
        let unchecked = self.reader.read_length().await?;
        if let Some(last) = unchecked.checked_sub(1) {
            self.check_stored_events(&event_type, &schema, last).await?;
        }
        let answered = self
            .writer
            .admission
            .push_schema(event_type, schema, unchecked)?;
        let limit = self.writer.state.limits.write_time;
        let outcome = self.writer.await_answer(answered, limit).await;
        outcome.unwrap_or_else(|| {
            Err(RegisterError::Unknown {
                address: self.writer.state.description.clone(),
                reason: "the server did not confirm the schema in time".into(),
            })
        })
    }

    async fn find_table_damage(
        &self,
        scope: VerificationScope,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Vec<LogDamage>, StoreError> {
        table_monitor::find_table_damage(&self.reader, scope, progress).await
    }

    async fn damaged_places(&self) -> Result<Vec<String>, StoreError> {
        let LogReader { pool, state } = &self.reader;
        pool.run_step(state, &PlacesReadStep).await
    }

    async fn settle_damage(&self, settlement: DamageSettlement) -> Result<(), StoreError> {
        let LogReader { pool, state } = &self.reader;
        pool.run_step(state, &SettlementStep(settlement)).await
    }

    async fn health(&self) -> Result<(), StoreError> {
        let (answer, answered) = oneshot::channel();
        self.writer.admission.push_task(QueuedTask::Probe(answer))?;
        let limit = self.writer.state.limits.health_time;
        let outcome = self.writer.await_answer(answered, limit).await;
        outcome.unwrap_or_else(|| {
            Err(self
                .writer
                .admission
                .unavailable("it does not answer in time"))
        })
    }

    fn description(&self) -> String {
        self.writer.state.description.clone()
    }
}
