//! The limits and the end of a transaction.

use std::time::Duration;

/// The time in which a server that works executes what one transaction needs.
pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(15);

/// The end of a transaction whose statements have succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionEnd {
    Commit,
    Rollback,
}
