//! The limits of a query's size, time and memory.

use std::time::Duration;

/// The maximum length of a query in bytes.
///
/// ```
/// use es_eventql::{MAX_LENGTH, EventQlQuery};
///
/// assert!(EventQlQuery::parse(&" ".repeat(MAX_LENGTH + 1)).is_err());
/// ```
pub const MAX_LENGTH: usize = 64 * 1024;
/// The maximum nesting of parentheses, brackets and prefix operators.
pub(super) const MAX_NESTING: u16 = 128;
/// The maximum depth of the syntax tree. A chain such as `a OR b OR …` adds one level for each
/// operator.
pub(super) const MAX_DEPTH: u16 = 256;
/// The maximum nesting of a value. Comparing and writing a value needs stack for each level.
pub(super) const MAX_VALUE_DEPTH: u16 = 256;
/// The maximum nesting of subqueries.
pub(super) const MAX_SUBQUERIES: u16 = 8;
/// The maximum number of FROM clauses.
pub(super) const MAX_SOURCES: usize = 8;

/// The maximum length of a result row in bytes.
pub(super) const MAX_ROW_LENGTH: usize = 16 * 1024 * 1024;

/// The limits of one query run. Exceeding a limit ends the run with an error.
///
/// ```
/// use std::time::Duration;
///
/// use es_eventql::QueryLimits;
///
/// let hasty = QueryLimits { time: Duration::from_secs(1), ..QueryLimits::DEFAULT };
/// assert_eq!(hasty.memory, 64 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryLimits {
    /// The maximum time from the call to the last row, including pauses of the reader.
    pub time: Duration,
    /// The maximum number of bytes, by estimate, that the run may hold: for the values of the current
    /// row, ORDER BY, GROUP BY, DISTINCT, several FROM clauses and lists of subjects and event types.
    pub memory: usize,
}

impl QueryLimits {
    /// The default limits: one minute and 64 MiB.
    pub const DEFAULT: Self = Self {
        time: Duration::from_secs(60),
        memory: 64 * 1024 * 1024,
    };
}

impl Default for QueryLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
