//! Refuses a connection pool that gives the connection of a session to others between transactions.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, postgres::PgConnectOptions};
use uuid::Uuid;

/// The error for a connection pool in transaction mode. Locks, notifications and settings belong to a session,
/// and such a pool mixes the sessions.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error(
    "a connection pool such as PgBouncer mixes the sessions of its clients, and locks and notifications would get lost: connect to PostgreSQL itself, or let the pool work in session mode"
)]
struct TransactionPool;

/// The reason that PgBouncer gives for a session with settings, unless its configuration ignores them.
const REFUSAL_OF_POOL: &str = "unsupported startup parameter";

/// Returns an error if two sessions of the server are one. Call it where no other session works yet, because the
/// pool lends the connection that became free last.
///
/// # Errors
/// The server is behind a pool that mixes sessions, which is a configuration error, or the
/// connection fails.
#[doc(hidden)]
pub async fn refuse_transaction_pool(
    connection: &mut PgConnection,
    options: &PgConnectOptions,
) -> Result<(), sqlx::Error> {
    let mark = Uuid::new_v4().to_string();
    let set = AssertSqlSafe(format!("SET es_store.session = '{mark}'"));
    // Statements without a name, because the pool would mix up the names, too.
    if sqlx::raw_sql(set).execute(&mut *connection).await.is_err() {
        // An engine without settings of applications.
        return Ok(());
    }
    let mut other = PgConnection::connect_with(options).await?;
    let read = sqlx::raw_sql("SELECT current_setting('es_store.session', true)");
    let seen: Option<String> = read.fetch_one(&mut other).await?.try_get(0)?;
    other.close().await?;
    if seen == Some(mark) {
        return Err(sqlx::Error::Configuration(TransactionPool.into()));
    }
    Ok(())
}

/// SQLSTATE of a prepared statement that exists already, or does not. sqlx numbers the statements of a connection, so
/// only a pool that mixes sessions leads to them: it hands on the statements of an earlier start.
const FOREIGN_STATEMENTS: [&str; 2] = ["42P05", "26000"];

/// Replaces an error that only a connection pool in transaction mode causes by its remedy.
#[doc(hidden)]
#[must_use]
pub fn explain_pool(error: sqlx::Error) -> sqlx::Error {
    let is_of_pool = error.as_database_error().is_some_and(|error| {
        let code = error.code();
        error.message().starts_with(REFUSAL_OF_POOL)
            || code.is_some_and(|code| FOREIGN_STATEMENTS.contains(&&*code))
    });
    if is_of_pool {
        sqlx::Error::Configuration(TransactionPool.into())
    } else {
        error
    }
}
