//! The writer thread. It takes all waiting appends, executes them in one transaction, commits once
//! and then answers. When it is idle, it compacts the index.

mod log_check;
mod log_checkpoint;
mod maintenance;
mod recover;
mod register_schema;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, RwLock, atomic::AtomicBool},
    time::Instant,
};

use rusqlite::Connection;
use tokio::sync::watch;

use log_check::LogCheck;
use log_checkpoint::LogCheckpoint;

#[cfg(test)]
use super::shared::InjectedFault;
use super::{
    damage_record::DamageRecord,
    database_error::{BatchFailure, OpenError, SqliteError},
    database_format,
    directory::DataDirectory,
    index::{CompactionProgress, EventKeys, MemtableCompaction},
    latest_events::IndexedLatestEvents,
    open_files::OpenFiles,
    recent::CommittedEvents,
    row,
    shared::{IndexedLog, SharedState},
    startup,
    store_settings::EngineSettings,
};
use es_event::{EventId, EventType};
use es_store::{
    measure,
    write::{
        AbandonQueueOnDrop, AppendOutcome, BatchLimits, ChainHead, CommitLinger, PreparedBatch,
        QueueOutcome, QueuedAppend, QueuedTask, WriteQueue,
    },
};

const NEW_TYPE: &str = "INSERT INTO event_types (type, first_event) VALUES (?1, ?2)";

/// The writer and the state that only it uses.
#[derive(Debug)]
pub(super) struct EventWriter {
    connection: Connection,
    head: ChainHead,
    compaction: MemtableCompaction,
    linger: CommitLinger,
    check: LogCheck,
    log_checkpoint: LogCheckpoint,
    /// True if the database must be read again before the next write.
    is_stale: bool,
    /// True if something was written since the last checkpoint.
    has_written: bool,
    settings: EngineSettings,
    queue: Arc<WriteQueue>,
    shared: Arc<SharedState>,
    length: watch::Sender<u64>,
    directory: DataDirectory,
    /// The files that the connection has open.
    files: OpenFiles,
}

impl EventWriter {
    /// Opens the database in a locked directory.
    pub(super) fn open(
        directory: DataDirectory,
        settings: EngineSettings,
        queue: Arc<WriteQueue>,
    ) -> Result<(Self, Arc<SharedState>, watch::Receiver<u64>), OpenError> {
        let file = directory.database_file()?;
        let mut connection = database_format::open_writer(&file, &settings)?;
        let failed = |error: SqliteError| {
            let (file, reason) = (file.clone(), error.to_string());
            OpenError::Database { file, reason }
        };
        let log_checkpoint = LogCheckpoint::default();
        let counted = log_checkpoint.count_pages(&mut connection);
        counted.map_err(|error| failed(error.into()))?;
        let (head, index) = startup::load_log(&connection, &settings).map_err(failed)?;
        let catalogue = startup::load_catalogue(&connection).map_err(failed)?;
        let (length, seen) = watch::channel(index.len());
        let check = LogCheck::of_newest(index.len(), &settings);
        let damage = DamageRecord::load(&connection).map_err(failed)?;
        let files = OpenFiles::of_database(&file);
        let shared = Arc::new(SharedState {
            file,
            log: RwLock::new(IndexedLog {
                index,
                ..IndexedLog::default()
            }),
            catalogue: RwLock::new(Arc::new(catalogue)),
            last_write_failure: Mutex::default(),
            is_rebuild_requested: AtomicBool::new(false),
            damage: Mutex::new(damage),
            #[cfg(test)]
            injected_fault: Mutex::default(),
        });
        let writer = Self {
            connection,
            head,
            compaction: MemtableCompaction::default(),
            linger: CommitLinger::default(),
            check,
            log_checkpoint,
            is_stale: false,
            has_written: false,
            settings,
            queue,
            shared: Arc::clone(&shared),
            length,
            directory,
            files,
        };
        Ok((writer, shared, seen))
    }

    /// Runs until the queue is closed and empty.
    pub(super) fn write_until_closed(mut self) {
        // No caller waits any longer, whatever ends this thread.
        let _guard = AbandonQueueOnDrop(Arc::clone(&self.queue));
        self.verify_newest();
        loop {
            // A bug in one batch does not end the store: the callers without an answer get an error
            // that says so, and the state is loaded from the disk again.
            match catch_unwind(AssertUnwindSafe(|| self.run_once())) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    self.is_stale = true;
                    self.shared
                        .set_last_write_failure(Some("its writer has a bug".into()));
                }
            }
        }
        self.compact_for_close();
    }

    /// Executes the next tasks, or maintenance when there are none. Returns `false` at the end.
    fn run_once(&mut self) -> bool {
        let limits = BatchLimits {
            events: self.settings.batch_events,
            bytes: self.settings.batch_bytes,
        };
        let idle = if self.shared.has_failed() {
            self.settings.idle
        } else {
            self.maintenance_pause()
        };
        match self.queue.take(self.linger.target(), idle, limits) {
            QueueOutcome::Tasks(tasks) => self.execute(tasks),
            QueueOutcome::Idle => self.maintain(),
            QueueOutcome::Closed => return false,
        }
        true
    }

    fn execute(&mut self, tasks: Vec<QueuedTask>) {
        #[cfg(test)]
        self.inject_fault();
        let mut appends = Vec::with_capacity(tasks.len());
        let (mut registers, mut probes) = (Vec::new(), Vec::new());
        for task in tasks {
            match task {
                QueuedTask::Append(append) => appends.push(append),
                QueuedTask::Register(register) => registers.push(register),
                QueuedTask::Probe(answer) => probes.push(answer),
            }
        }
        if !appends.is_empty() {
            self.write(appends);
            self.checkpoint_while_busy();
            self.read_subjects_missing_in_bloom_filter();
            self.verify_while_busy();
        }
        for register in registers {
            self.register_schema(register);
        }
        for probe in probes {
            let _ = probe.send(self.probe_writing());
        }
    }

    /// Injects the fault that a test has set.
    #[cfg(test)]
    #[allow(clippy::panic)]
    fn inject_fault(&mut self) {
        match self.shared.take_fault() {
            Some(InjectedFault::LimitPages(pages)) => {
                let _ = self.connection.pragma_update(None, "max_page_count", pages);
            }
            Some(InjectedFault::Panic) => panic!("a test injects a bug"),
            None => {}
        }
    }

    /// Writes a batch and answers each of its callers, whatever happens.
    fn write(&mut self, mut appends: Vec<QueuedAppend>) {
        let begun = Instant::now();
        let shared = Arc::clone(&self.shared);
        match self.transact(&shared, &mut appends) {
            Ok((outcomes, mut committed)) => {
                let time = begun.elapsed();
                committed.events = outcomes.iter().flatten().flatten().cloned().collect();
                measure(|meter| {
                    meter.record_commit(time, committed.events.len(), appends.len());
                });
                self.publish(committed);
                self.linger
                    .record_commit(time, appends.len(), self.queue.waiting_tasks());
                for (append, outcome) in appends.into_iter().zip(outcomes) {
                    drop(append.permit);
                    let _ = append.answer.send(outcome);
                }
            }
            Err(failure) => {
                self.record_failure("a batch of events was not written", &failure);
                self.shared.note_damage(&failure.error);
                // The connection may be unusable after a failed read or write.
                self.is_stale |= !failure.error.is_full() && !failure.error.is_closed();
                for append in appends {
                    let _ = append
                        .answer
                        .send(Err(failure.to_append_error(&shared.file)));
                }
            }
        }
    }

    /// Writes a batch in one transaction. The head of the chain advances only after the commit.
    fn transact(
        &mut self,
        shared: &SharedState,
        appends: &mut [QueuedAppend],
    ) -> Result<(Vec<AppendOutcome>, CommittedBatch), BatchFailure> {
        self.refresh()?;
        shared.check_open(&self.connection)?;
        let catalogue = shared.catalogue();
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let batch = {
            let log = shared.log();
            let stored = IndexedLatestEvents {
                index: &log.index,
                connection: &self.connection,
            };
            PreparedBatch::prepare(
                self.head,
                self.settings.hash_version,
                &catalogue,
                &stored,
                appends,
            )
        };
        let batch = batch.inspect_err(|_| self.roll_back())?;
        let (keys, step) = self.insert(&batch).inspect_err(|_| self.roll_back())?;
        self.commit()?;
        self.head = batch.head;
        let committed = CommittedBatch {
            events: CommittedEvents::default(),
            keys,
            types: batch.new_types,
            step,
        };
        Ok((batch.outcomes, committed))
    }

    /// Inserts the events of a batch and their types, and continues the compaction.
    fn insert(
        &self,
        batch: &PreparedBatch<'_>,
    ) -> rusqlite::Result<(Vec<(EventKeys, u64)>, CompactionProgress)> {
        let mut statement = row::prepare_insert(&self.connection)?;
        let (mut keys, mut entries) = (Vec::new(), 0_usize);
        for event in batch.events() {
            row::insert_event(&mut statement, event)?;
            let event_keys = EventKeys::from_event(event);
            entries = entries.saturating_add(event_keys.len());
            keys.push((event_keys, event.id.get()));
        }
        for (event_type, first) in &batch.new_types {
            let first = row::number(first.get());
            self.connection
                .execute(NEW_TYPE, (event_type.as_str(), first))?;
        }
        let budget = entries.saturating_mul(self.settings.compaction_factor);
        let step = self.compaction.write_entries(&self.connection, budget)?;
        Ok((keys, step))
    }

    fn commit(&mut self) -> Result<(), BatchFailure> {
        let Err(error) = self.connection.execute_batch("COMMIT") else {
            self.has_written = true;
            return Ok(());
        };
        self.roll_back();
        let error = SqliteError::from(error);
        self.is_stale = true;
        // A full disk ends the transaction before its commit record. After any other failure, the
        // whole transaction may be in the write-ahead log, where the next start would find it.
        let uncertain = !error.is_full() && !self.undo_failed_commit();
        Err(BatchFailure { error, uncertain })
    }

    /// Records a failure until a write succeeds. Logs a failure that repeats only once: a full disk fails every
    /// batch.
    fn record_failure(&self, what: &str, failure: &BatchFailure) {
        let reason = failure.error.to_string();
        if self.shared.set_last_write_failure(Some(reason)) {
            tracing::error!(error = %failure.error, "{what}");
        }
    }

    /// Overwrites what a failed commit may have left in the write-ahead log with a commit that changes nothing. Returns
    /// true if that succeeds and the end of the chain is the same as before.
    fn undo_failed_commit(&mut self) -> bool {
        let end = self.head.next;
        self.write_same_content().is_ok() && self.refresh().is_ok() && self.head.next == end
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// Makes committed events visible: first the index, then the length that subscribers watch.
    fn publish(&mut self, committed: CommittedBatch) {
        let CommittedBatch {
            events,
            keys,
            types,
            step,
        } = committed;
        if !types.is_empty() {
            self.shared.modify_catalogue(|catalogue| {
                for (event_type, first) in &types {
                    catalogue.record_event(event_type, *first);
                }
            });
        }
        let EngineSettings {
            memtable_entries,
            recent,
            ..
        } = self.settings;
        let is_finished = self.compaction.step_committed(step);
        let (length, next, freed) = self.shared.modify_log(|log| {
            let memtable = is_finished.then(|| log.index.finish_compaction());
            for (event_keys, id) in keys {
                log.index.insert(event_keys, id);
            }
            let evicted = log.recent.push_commit(events, recent);
            let is_due = self.compaction.is_idle() && log.index.pending() >= memtable_entries;
            let next = is_due.then(|| log.index.start_compaction());
            (log.index.len(), next, (memtable, evicted))
        });
        // Freed after the lock is released.
        drop(freed);
        if let Some(next) = next {
            self.compaction = next;
        }
        self.shared.set_last_write_failure(None);
        self.length.send_replace(length);
    }
}

/// The result of a committed transaction.
struct CommittedBatch {
    events: CommittedEvents,
    /// The keys and ids of the events, in order.
    keys: Vec<(EventKeys, u64)>,
    /// The new event types, each with its first event.
    types: Vec<(EventType, EventId)>,
    step: CompactionProgress,
}
