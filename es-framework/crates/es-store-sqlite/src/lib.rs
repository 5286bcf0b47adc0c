//! The embedded event store: the events of one process in one SQLite file.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

mod child_subjects;
mod chunk_collector;
mod damage_record;
mod database_error;
mod database_format;
mod directory;
mod embedded_store_options;
mod event_check;
mod index;
mod latest_events;
mod line_renderer;
mod log_closure;
mod open_files;
mod reader;
mod recent;
mod recent_events_reader;
mod restore;
mod row;
mod row_checksum;
mod scan_plan;
mod schema_check;
mod shared;
mod startup;
mod store_settings;
mod subject_listing;
mod table_check;
#[cfg(test)]
mod tests;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _, future, stream};
use tokio::{sync::oneshot, time::timeout};

use self::{
    directory::{DataDirectory, TemporaryDirectory},
    reader::{EventReader, LineReader},
    recent_events_reader::RecentEventsReader,
    shared::SharedState,
    store_settings::EngineSettings,
    writer::EventWriter,
};
use es_event::{EventCandidate, EventType, LineFormat, RecordedEvent, Subject};
use es_store::{
    AppendError, DamageSettlement, EventLog, EventSchema, EventStream, EventTypeStream,
    KnownEventType, LineStream, LogDamage, ObserveOptions, Precondition, ReadOptions,
    RegisterError, StoreCatalog, StoreError, SubjectStream, VerificationScope, scan, schema_work,
    write::{
        QueuedAppend, QueuedTask, WriteAdmission, WriteQueue, candidate_size, precondition_size,
    },
};

pub use database_error::OpenError;
pub use embedded_store_options::EmbeddedStoreOptions;
pub use restore::{Restore, RestoreError};

/// The time that a queued append waits for the disk.
const WRITE_LIMIT: Duration = Duration::from_secs(30);

/// The time limit of a health check.
const HEALTH_LIMIT: Duration = Duration::from_secs(2);

/// An event store in a directory of its own.
///
/// Clones share the store. When the last clone is dropped, or one is closed, the index is written to
/// disk. Streams that are still open can be read to their end.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use es_store::StoreCatalog as _;
/// use es_store_sqlite::EmbeddedStore;
///
/// let store = EmbeddedStore::temporary()?;
/// store.health().await?;
/// store.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct EmbeddedStore {
    open: Arc<OpenStore>,
    reader: EventReader,
}

/// A running writer, stopped when this is dropped.
#[derive(Debug)]
struct OpenStore {
    admission: WriteAdmission,
    shared: Arc<SharedState>,
    writer: Mutex<Option<JoinHandle<()>>>,
    reader: EventReader,
    /// Dropped last, when no file in it is open.
    _temporary: Option<TemporaryDirectory>,
}

impl EmbeddedStore {
    /// Returns true if a directory holds a store, even if one of its files is missing.
    #[must_use]
    pub fn exists_in(directory: &Path) -> bool {
        directory::has_store(directory)
    }

    /// Opens the store in a directory, and creates the directory if it is missing.
    ///
    /// The first start with a file of an older format builds its index, and logs its progress.
    ///
    /// # Errors
    /// Another process has the directory open, it cannot be used, or it holds something else.
    pub fn open(directory: &Path) -> Result<Self, OpenError> {
        Self::open_with_options(directory, EmbeddedStoreOptions::default())
    }

    /// Opens the store in a directory like [`open`](Self::open), with these options.
    ///
    /// # Errors
    /// As those of [`open`](Self::open).
    pub fn open_with_options(
        directory: &Path,
        options: EmbeddedStoreOptions,
    ) -> Result<Self, OpenError> {
        Self::open_with(directory, options.engine_settings(), None)
    }

    /// Creates an empty store in a new directory, which is removed with the store.
    ///
    /// # Errors
    /// The system's directory for temporary files cannot be used.
    pub fn temporary() -> Result<Self, OpenError> {
        Self::temporary_with_options(EmbeddedStoreOptions::default())
    }

    /// Creates an empty store like [`temporary`](Self::temporary), with these options.
    ///
    /// # Errors
    /// The system's directory for temporary files cannot be used.
    pub fn temporary_with_options(options: EmbeddedStoreOptions) -> Result<Self, OpenError> {
        Self::temporary_with(options.engine_settings())
    }

    fn temporary_with(settings: EngineSettings) -> Result<Self, OpenError> {
        let temporary = TemporaryDirectory::with_random_path();
        let path = temporary.path().to_owned();
        Self::open_with(&path, settings, Some(temporary))
    }

    fn open_with(
        directory: &Path,
        settings: EngineSettings,
        temporary: Option<TemporaryDirectory>,
    ) -> Result<Self, OpenError> {
        let lock = DataDirectory::create_and_lock(directory)?;
        let queue = Arc::new(WriteQueue::default());
        let (writer, shared, length) = EventWriter::open(lock, settings, Arc::clone(&queue))?;
        let thread = std::thread::Builder::new()
            .name("event-writer".into())
            .spawn(move || writer.write_until_closed())
            .map_err(|source| OpenError::Directory {
                directory: directory.to_owned(),
                source,
            })?;
        let reader = EventReader::new(Arc::clone(&shared), length, settings);
        let admission =
            WriteAdmission::new(queue, settings.queue, shared.file.display().to_string());
        let open = Arc::new(OpenStore {
            admission,
            shared,
            writer: Mutex::new(Some(thread)),
            reader: reader.clone(),
            _temporary: temporary,
        });
        Ok(Self { open, reader })
    }

    /// The database file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.open.shared.file.clone()
    }

    /// Builds the tables that follow from the events again. A verification opens the log then.
    ///
    /// # Errors
    /// The disk fails.
    pub async fn rebuild_tables(&self) -> Result<(), StoreError> {
        self.open.shared.set_rebuild_requested(true);
        match self.open.probe().await {
            Err(error) if self.open.shared.is_rebuild_requested() => Err(error),
            // The log is closed until a verification.
            _ => Ok(()),
        }
    }

    /// Writes the waiting appends, rejects further ones, and unlocks the directory. Dropping the last
    /// clone does the same, but blocks its thread.
    pub async fn close(&self) {
        let open = Arc::clone(&self.open);
        // It fails only by a panic, and then the writer has ended, too.
        let _ = tokio::task::spawn_blocking(move || open.close()).await;
    }
}

impl OpenStore {
    fn close(&self) {
        self.admission.close();
        self.reader.close_idle();
        let writer = self.writer.lock();
        let writer = writer.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Err(_)) = writer.map(JoinHandle::join) {
            tracing::error!("the writer of the event store panicked");
        }
    }

    async fn probe(&self) -> Result<(), StoreError> {
        let (answer, answered) = oneshot::channel();
        self.admission.push_task(QueuedTask::Probe(answer))?;
        let gone = |_| self.admission.unavailable("its writer does not answer");
        answered.await.map_err(gone)??;
        self.reader.check_disk().await
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        self.close();
    }
}

#[async_trait]
impl EventLog for EmbeddedStore {
    async fn append(
        &self,
        candidates: Vec<EventCandidate>,
        preconditions: Vec<Precondition>,
    ) -> Result<Vec<RecordedEvent>, AppendError> {
        let sizes = candidates.iter().map(candidate_size);
        let bytes = sizes
            .chain(preconditions.iter().map(precondition_size))
            .fold(0, usize::saturating_add);
        let catalogue = self.open.shared.catalogue();
        let candidates = schema_work::check_candidates(&catalogue, candidates).await?;
        let schemas = catalogue.schemas();
        drop(catalogue);
        let permit = self.open.admission.reserve_queue_space(bytes).await?;
        let (answer, answered) = oneshot::channel();
        self.open
            .admission
            .push_task(QueuedTask::Append(QueuedAppend {
                candidates,
                preconditions,
                bytes,
                schemas,
                answer,
                permit,
            }))?;
        let unknown = |reason: &str| AppendError::Unknown {
            address: self.open.shared.file.display().to_string(),
            reason: reason.to_owned(),
        };
        // A disk that hangs may still write the events later.
        match timeout(WRITE_LIMIT, answered).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(unknown("its writer ended before it answered")),
            Err(_) => Err(unknown("the disk did not take the events in time")),
        }
    }

    fn read(&self, subject: Subject, options: ReadOptions) -> EventStream {
        scan::read_events(self.reader.clone(), subject, options)
    }

    fn observe(&self, subject: Subject, options: ObserveOptions) -> EventStream {
        let source = RecentEventsReader(self.reader.clone());
        scan::observe_events(self.reader.clone(), source, subject, options)
    }
}

#[async_trait]
impl StoreCatalog for EmbeddedStore {
    fn read_lines(
        &self,
        subject: &Subject,
        options: &ReadOptions,
        shape: LineFormat,
    ) -> Option<LineStream> {
        let reader = self.reader.clone();
        let lines = LineReader {
            reader: reader.clone(),
            shape,
        };
        let frames = scan::chunks(reader, lines, subject.clone(), options.clone());
        let frames = frames.try_filter(|lines| future::ready(!lines.is_empty()));
        Some(frames.map_ok(Bytes::from).boxed())
    }

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
        let known = self.open.shared.catalogue().event_types();
        stream::iter(known).map(Ok).boxed()
    }

    async fn read_event_type(
        &self,
        event_type: EventType,
    ) -> Result<Option<KnownEventType>, StoreError> {
        Ok(self.open.shared.catalogue().get(&event_type))
    }

    async fn register_event_schema(
        &self,
        event_type: EventType,
        schema: EventSchema,
    ) -> Result<(), RegisterError> {
        self.open
            .shared
            .catalogue()
            .check_new_schema(&event_type, &schema)?;
        let schema = Arc::new(schema);
        let _permit = self.open.admission.reserve_registration().await?;
        // The check runs here and not on the writer thread, where all appends would wait for it.
        let unchecked = self
            .reader
            .check_stored_events(&event_type, &schema)
            .await?;
        let answered = self
            .open
            .admission
            .push_schema(event_type, schema, unchecked)?;
        answered.await.unwrap_or_else(|_| {
            Err(RegisterError::Unknown {
                address: self.open.shared.file.display().to_string(),
                reason: "its writer ended before it answered".into(),
            })
        })
    }

    async fn find_table_damage(
        &self,
        scope: VerificationScope,
        progress: &mut (dyn FnMut(u64) + Send),
    ) -> Result<Vec<LogDamage>, StoreError> {
        self.reader.find_table_damage(scope.first, progress).await
    }

    async fn damaged_places(&self) -> Result<Vec<String>, StoreError> {
        Ok(self.open.shared.damaged_places())
    }

    async fn settle_damage(&self, settlement: DamageSettlement) -> Result<(), StoreError> {
        self.open.shared.settle_damage(&settlement);
        Ok(())
    }

    async fn health(&self) -> Result<(), StoreError> {
        let probed = timeout(HEALTH_LIMIT, self.open.probe()).await;
        probed.unwrap_or_else(|_| {
            Err(self
                .open
                .admission
                .unavailable("it does not answer in time"))
        })
    }

    fn description(&self) -> String {
        format!("embedded, in {}", self.open.shared.file.display())
    }
}
