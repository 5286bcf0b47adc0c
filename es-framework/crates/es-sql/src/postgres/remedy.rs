//! The way in which a transaction continues after an error of PostgreSQL.

use super::super::database_error::error_code;

/// The way in which a transaction continues after an error.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Repeat the transaction, on the same connection.
    Repeat,
    /// Repeat it on a new connection, maybe to another server.
    Reconnect,
    /// Give up.
    GiveUp,
}

/// Returns true for a serialization failure and a deadlock, after which a transaction is repeated.
fn is_aborted(error: &sqlx::Error) -> bool {
    matches!(error_code(error).as_deref(), Some("40001" | "40P01"))
}

/// Returns what to do about an error of the database, from its SQLSTATE.
#[doc(hidden)]
#[must_use]
pub fn remedy(error: &sqlx::Error) -> Remedy {
    match (error, error_code(error).as_deref()) {
        _ if is_aborted(error) => Remedy::Repeat,
        // A writer that has waited too long for the lock of the log's end.
        (_, Some("55P03")) => Remedy::Repeat,
        // A server that is a standby now, starts, stops or has no connection left; a session that
        // it ended; a statement that it cancelled.
        (_, Some("25006" | "25P03" | "53300" | "57014")) => Remedy::Reconnect,
        (_, Some(code)) if code.starts_with("08") || code.starts_with("57P") => Remedy::Reconnect,
        (_, Some(_))
        | (
            sqlx::Error::Configuration(_)
            | sqlx::Error::Decode(_)
            | sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::RowNotFound
            | sqlx::Error::Encode(_),
            None,
        ) => Remedy::GiveUp,
        (_, None) => Remedy::Reconnect,
    }
}
