//! The one thread that writes. It takes what waits, carries it out in one transaction, commits
//! once and then answers; between batches it merges the index.

mod recover;
mod register;
mod tidy;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, RwLock},
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::watch;

use super::{
    batch::{Batch, Head},
    directory::Directory,
    error::{DiskError, Failure, OpenError},
    merge::{Merge, Slice},
    metrics,
    pace::Pace,
    queue::{Answer, Append, Limits, Queue, Task, Work},
    recent::Commit,
    schema,
    settings::Settings,
    shared::Shared,
    state,
    tail::Entry,
};
use crate::event::{EventId, EventType};

/// The writer and all that only it touches.
#[derive(Debug)]
pub(super) struct Writer {
    connection: Connection,
    head: Head,
    merge: Merge,
    pace: Pace,
    /// Whether the database must be read again before it is written to.
    is_stale: bool,
    /// Whether something was written since the log was last emptied.
    has_written: bool,
    settings: Settings,
    queue: Arc<Queue>,
    shared: Arc<Shared>,
    length: watch::Sender<u64>,
    _directory: Directory,
}

impl Writer {
    /// Opens the database in a directory that is held.
    pub(super) fn open(
        directory: Directory,
        settings: Settings,
        queue: Arc<Queue>,
    ) -> Result<(Self, Arc<Shared>, watch::Receiver<u64>), OpenError> {
        let file = directory.file();
        let connection = schema::open_writer(&file, &settings)?;
        let failed = |error: DiskError| {
            let (file, reason) = (file.clone(), error.to_string());
            OpenError::Database { file, reason }
        };
        let (head, tail) = state::load(&connection, &settings).map_err(failed)?;
        let catalogue = state::catalogue(&connection).map_err(failed)?;
        let (length, seen) = watch::channel(tail.length());
        let shared = Arc::new(Shared {
            file,
            tail: RwLock::new(tail),
            catalogue: RwLock::new(Arc::new(catalogue)),
            failure: Mutex::default(),
        });
        let writer = Self {
            connection,
            head,
            merge: Merge::default(),
            pace: Pace::default(),
            is_stale: false,
            has_written: false,
            settings,
            queue,
            shared: Arc::clone(&shared),
            length,
            _directory: directory,
        };
        Ok((writer, shared, seen))
    }

    /// Works until the queue is closed and empty.
    pub(super) fn run(mut self) {
        // Whatever ends this thread, nobody waits for it any longer.
        let queue = Arc::clone(&self.queue);
        let _guard = AbandonOnDrop(&queue);
        loop {
            // A bug in one batch is not the end of the store: what was not answered is unknown,
            // and what is true is on the disk.
            match catch_unwind(AssertUnwindSafe(|| self.work())) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => {
                    self.is_stale = true;
                    self.shared.set_failure(Some("its writer has a bug".into()));
                }
            }
        }
        self.close();
    }

    /// One round; `false` at the end.
    fn work(&mut self) -> bool {
        let limits = Limits {
            events: self.settings.batch_events,
            bytes: self.settings.batch_bytes,
        };
        // A merge that nobody disturbs goes on at once, unless the disk would not have it.
        let idle = if self.is_settled() || self.shared.has_failed() {
            self.settings.idle
        } else {
            Duration::ZERO
        };
        match self.queue.take(self.pace.linger(), idle, limits) {
            Work::Tasks(tasks) => self.perform(tasks),
            Work::Nothing => self.tidy(),
            Work::Closed => return false,
        }
        true
    }

    fn perform(&mut self, tasks: Vec<Task>) {
        let mut appends = Vec::with_capacity(tasks.len());
        let (mut registers, mut probes) = (Vec::new(), Vec::new());
        for task in tasks {
            match task {
                Task::Append(append) => appends.push(append),
                Task::Register(register) => registers.push(register),
                Task::Probe(answer) => probes.push(answer),
                #[cfg(test)]
                Task::LimitPages(pages) => {
                    let _ = self.connection.pragma_update(None, "max_page_count", pages);
                }
                #[cfg(test)]
                #[allow(clippy::panic)]
                Task::Panic => panic!("a test wants to see what happens"),
            }
        }
        if !appends.is_empty() {
            self.write(appends);
            self.learn();
        }
        for register in registers {
            self.register(register);
        }
        for probe in probes {
            let _ = probe.send(self.probe());
        }
    }

    /// Carries out a batch and answers each of its callers, whatever happens.
    fn write(&mut self, mut appends: Vec<Append>) {
        let begun = Instant::now();
        let shared = Arc::clone(&self.shared);
        match self.transact(&shared, &mut appends) {
            Ok((outcomes, mut written)) => {
                let time = begun.elapsed();
                written.events = outcomes.iter().flatten().flatten().cloned().collect();
                metrics::committed(time, written.entries.len(), appends.len());
                self.publish(written);
                self.pace.committed(time, appends.len(), self.queue.len());
                for (append, outcome) in appends.into_iter().zip(outcomes) {
                    drop(append.permit);
                    let _ = append.answer.send(outcome);
                }
            }
            Err(failure) => {
                self.has_failed("a batch of events was not written", &failure);
                // What a connection is worth after a failed read or write is not known.
                self.is_stale |= !failure.error.is_full();
                for append in appends {
                    let _ = append.answer.send(Err(failure.at(&shared.file)));
                }
            }
        }
    }

    /// The transaction of a batch. The head moves on only when it is committed.
    fn transact(
        &mut self,
        shared: &Shared,
        appends: &mut [Append],
    ) -> Result<(Vec<Answer>, Written), Failure> {
        self.refresh()?;
        let tail = shared.tail();
        let catalogue = shared.catalogue();
        let mut batch = Batch::new(&tail, &catalogue, self.head, appends.len());
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let slice = batch.carry_out(&self.connection, appends).and_then(|()| {
            let budget = batch
                .entries
                .len()
                .saturating_mul(self.settings.merge_factor);
            self.merge.write_slice(&self.connection, budget)
        });
        let slice = slice.inspect_err(|_| self.roll_back())?;
        let Batch {
            head,
            outcomes,
            entries,
            types,
            ..
        } = batch;
        drop(tail);
        self.commit()?;
        let first = std::mem::replace(&mut self.head, head).next;
        let first = first.map_or(u64::MAX, EventId::get);
        let written = Written {
            first,
            events: Commit::default(),
            entries,
            types,
            slice,
        };
        Ok((outcomes, written))
    }

    fn commit(&mut self) -> Result<(), Failure> {
        let Err(error) = self.connection.execute_batch("COMMIT") else {
            self.has_written = true;
            return Ok(());
        };
        self.roll_back();
        let error = DiskError::from(error);
        self.is_stale = true;
        // A full disk cuts the transaction short. Anything else may have failed after all of it was
        // in the log, where the next start would find it.
        let uncertain = !error.is_full() && !self.is_undone();
        Err(Failure { error, uncertain })
    }

    /// Remembers a failure until something succeeds. Logs the first: a full disk fails every batch.
    fn has_failed(&self, what: &str, failure: &Failure) {
        if !self.shared.has_failed() {
            tracing::error!(error = %failure.error, "{what}");
        }
        self.shared.set_failure(Some(failure.error.to_string()));
    }

    /// Whether nothing is left of a commit that failed: something else was written over it, and
    /// the chain ends where it did.
    fn is_undone(&mut self) -> bool {
        let end = self.head.next;
        self.write_nothing().is_ok() && self.refresh().is_ok() && self.head.next == end
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    /// A commit that changes a page and no content.
    fn write_nothing(&self) -> rusqlite::Result<()> {
        self.connection
            .execute_batch("UPDATE index_state SET indexed = indexed")
    }

    /// Shows readers what is durable now: first where to find it, then that it is there.
    fn publish(&mut self, written: Written) {
        if !written.types.is_empty() {
            self.shared.change_catalogue(|catalogue| {
                for (event_type, first) in &written.types {
                    catalogue.saw(event_type, *first);
                }
            });
        }
        let (most, recent) = (self.settings.tail_events, self.settings.recent);
        let ended = self.merge.wrote(written.slice);
        let (length, merging, let_go) = self.shared.change(|tail| {
            let merged = ended.then(|| tail.end_merge());
            for (entry, id) in written.entries.into_iter().zip(written.first..) {
                tail.push(entry, id);
            }
            let let_go = tail.recent.push(written.events, recent);
            let merging = (self.merge.is_idle() && tail.newest_events() >= most).then(|| {
                tail.begin_merge();
                tail.merging()
            });
            (tail.length(), merging, (merged, let_go))
        });
        // Freed while nobody waits for the lock.
        drop(let_go);
        if let Some(merging) = merging {
            self.merge = merging;
        }
        self.shared.set_failure(None);
        self.length.send_replace(length);
    }
}

/// What a committed transaction wrote.
struct Written {
    /// The id of its first event.
    first: u64,
    /// Its events, in their order, and what the index has of them.
    events: Commit,
    entries: Vec<Entry>,
    /// Types that were new, each with its first event.
    types: Vec<(EventType, EventId)>,
    slice: Slice,
}

/// Wakes whoever still waits when the writer is gone.
struct AbandonOnDrop<'a>(&'a Queue);

impl Drop for AbandonOnDrop<'_> {
    fn drop(&mut self) {
        self.0.abandon();
    }
}
