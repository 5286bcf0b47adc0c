//! Counts the time and the memory that a run uses, and ends it at its limits.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::time::Instant;

use super::{query_error::QueryErrorKind, query_limits::QueryLimits};

/// The work after which a run reads the clock. One byte of a value counts as one.
const WORK_BETWEEN_CLOCK_READS: usize = 256 * 1024;
/// The work for a row or an expression, however small its value is.
const SMALLEST_WORK: usize = 32;

/// The time and the memory of one run.
#[derive(Debug)]
pub(super) struct QueryBudget {
    limits: QueryLimits,
    /// `None` if the clock does not reach that far.
    deadline: Option<Instant>,
    /// The bytes that the run holds between rows.
    held: AtomicUsize,
    /// The work since the clock was read.
    work: AtomicUsize,
    is_cancelled: AtomicBool,
}

impl QueryBudget {
    /// Starts the time of a run.
    pub(super) fn new(limits: QueryLimits) -> Self {
        Self {
            limits,
            deadline: Instant::now().checked_add(limits.time),
            held: AtomicUsize::new(0),
            work: AtomicUsize::new(0),
            is_cancelled: AtomicBool::new(false),
        }
    }

    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Makes the next checks fail, because nobody reads the rows.
    pub(super) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns the error for a run that reached its time limit.
    pub(super) const fn time_error(&self) -> QueryErrorKind {
        let limit = self.limits.time;
        QueryErrorKind::Time { limit }
    }

    /// Counts the work for one row.
    pub(super) fn count_work_of_row(&self) -> Result<(), QueryErrorKind> {
        self.add_work(SMALLEST_WORK)
    }

    /// Counts work, and checks the time now and then.
    fn add_work(&self, work: usize) -> Result<(), QueryErrorKind> {
        // Only the thread of the run counts work, so nothing is lost between the load and the store.
        let work = self.work.load(Ordering::Relaxed).saturating_add(work);
        if work < WORK_BETWEEN_CLOCK_READS {
            self.work.store(work, Ordering::Relaxed);
            return Ok(());
        }
        self.work.store(0, Ordering::Relaxed);
        self.check_time()
    }

    fn check_time(&self) -> Result<(), QueryErrorKind> {
        let is_late = self
            .deadline
            .is_some_and(|deadline| Instant::now() >= deadline);
        if is_late || self.is_cancelled.load(Ordering::Relaxed) {
            return Err(self.time_error());
        }
        Ok(())
    }

    /// Counts bytes as held. Fails if the run then holds more than its limit.
    pub(super) fn reserve(&self, bytes: usize) -> Result<(), QueryErrorKind> {
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        self.check_memory(before.saturating_add(bytes))
    }

    /// Counts bytes as no longer held.
    pub(super) fn release_bytes(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    const fn check_memory(&self, bytes: usize) -> Result<(), QueryErrorKind> {
        let limit = self.limits.memory;
        if bytes > limit {
            return Err(QueryErrorKind::MemoryBudget { limit });
        }
        Ok(())
    }
}

/// The values that exist while expressions of one row are evaluated, on top of what the run holds.
pub(super) struct RowBudget<'a> {
    run: &'a QueryBudget,
    bytes: Cell<usize>,
}

impl<'a> RowBudget<'a> {
    pub(super) const fn new(run: &'a QueryBudget) -> Self {
        Self {
            run,
            bytes: Cell::new(0),
        }
    }

    /// Returns the size of all values that exist.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Counts a new value.
    ///
    /// # Errors
    /// Fails if the run reached its limit of time or memory.
    pub(super) fn add(&self, size: usize) -> Result<(), QueryErrorKind> {
        self.bytes.set(self.bytes.get().saturating_add(size));
        self.run.add_work(size.saturating_add(SMALLEST_WORK))?;
        self.check_room_for(0)
    }

    /// Counts a value that replaces all values since there were so many bytes.
    ///
    /// # Errors
    /// Fails if the run reached its limit of time or memory.
    pub(super) fn replace_since(&self, bytes: usize, size: usize) -> Result<(), QueryErrorKind> {
        self.bytes.set(bytes);
        self.add(size)
    }

    /// Checks that a value of this size could be added.
    ///
    /// # Errors
    /// Fails if the run has less memory.
    pub(super) fn check_room_for(&self, size: usize) -> Result<(), QueryErrorKind> {
        let held = self.run.held.load(Ordering::Relaxed);
        let bytes = held.saturating_add(self.bytes.get());
        self.run.check_memory(bytes.saturating_add(size))
    }

    /// Checks the limits of time and memory.
    ///
    /// # Errors
    /// Fails if the run reached one of them.
    pub(super) fn check(&self) -> Result<(), QueryErrorKind> {
        self.check_room_for(0)?;
        self.run.check_time()
    }
}
