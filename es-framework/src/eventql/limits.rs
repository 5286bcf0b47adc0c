//! What a query may cost.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use super::error::ErrorKind;

/// The longest query that is read, in bytes.
///
/// ```
/// use es_framework::eventql::{MAX_LENGTH, Query};
///
/// assert!(Query::parse(&" ".repeat(MAX_LENGTH + 1)).is_err());
/// ```
pub const MAX_LENGTH: usize = 64 * 1024;
/// How deep parentheses, brackets and prefix operators may lie within each other.
pub(super) const MAX_NESTING: u16 = 128;
/// How deep a tree may get. A chain such as `a OR b OR …` is as deep as it has operators.
pub(super) const MAX_DEPTH: u16 = 256;
/// How deep queries in parentheses may lie within each other.
pub(super) const MAX_SUBQUERIES: u16 = 8;
/// How many FROM clauses a query may have.
pub(super) const MAX_SOURCES: usize = 8;

/// What one run of a query may cost. Either limit ends it with an error of its own.
///
/// ```
/// use std::time::Duration;
///
/// use es_framework::eventql::Limits;
///
/// let hasty = Limits { time: Duration::from_secs(1), ..Limits::DEFAULT };
/// assert_eq!(hasty.memory, 64 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take from the call to the last row, pauses of the reader included.
    pub time: Duration,
    /// How many bytes, by estimate, it may hold in memory for ORDER BY, GROUP BY, DISTINCT, several
    /// FROM clauses and lists of subjects and event types.
    pub memory: usize,
}

impl Limits {
    /// A minute and 64 MiB.
    pub const DEFAULT: Self = Self {
        time: Duration::from_secs(60),
        memory: 64 * 1024 * 1024,
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The account of what a run holds.
#[derive(Debug)]
pub(super) struct Memory {
    limit: usize,
    held: AtomicUsize,
}

impl Memory {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit,
            held: AtomicUsize::new(0),
        }
    }

    pub(super) fn hold(&self, bytes: usize) -> Result<(), ErrorKind> {
        let before = self.held.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.limit {
            return Err(ErrorKind::Memory { limit: self.limit });
        }
        Ok(())
    }

    pub(super) fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }
}
