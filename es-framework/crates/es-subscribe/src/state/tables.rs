//! The tables of the state database.

use es_sql::{Cell, Engine, SqlDatabase, Statement};
use uuid::Uuid;

use super::{StateError, rows::RowReader};

/// The version of the tables.
const VERSION: i64 = 1;

/// The identity of a database, and the number of the last run that it knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DatabaseIdentity {
    pub(super) id: String,
    pub(super) run: i64,
}

/// Creates the tables that do not exist, and returns the identity of the database.
pub(super) async fn open_tables(database: &SqlDatabase) -> Result<DatabaseIdentity, StateError> {
    // Texts are compared as bytes, so that times of one width have their order.
    let text = match database.engine() {
        Engine::Sqlite => "TEXT",
        Engine::Postgres => "TEXT COLLATE \"C\"",
    };
    let create = table_statements(text).map(Statement::plain);
    let identify = Statement::new(
        "INSERT INTO es_state (id, run, version) \
         SELECT $1, 0, $2 WHERE NOT EXISTS (SELECT 1 FROM es_state)",
        [Uuid::new_v4().to_string().into(), Cell::Integer(VERSION)],
    );
    let statements = create.into_iter().chain([identify]);
    database.write(statements.collect()).await?;
    read_identity(database).await
}

/// Reads the identity of a database that has its tables.
pub(super) async fn read_identity(database: &SqlDatabase) -> Result<DatabaseIdentity, StateError> {
    let select = Statement::new("SELECT id, run, version FROM es_state", []);
    let rows = database.read(select).await?;
    let mut row = RowReader::new("es_state", rows.into_iter().next().unwrap_or_default());
    let (id, run, version) = (row.text()?, row.integer()?, row.integer()?);
    if version > VERSION {
        return Err(StateError::LaterRelease(version));
    }
    Ok(DatabaseIdentity { id, run })
}

fn table_statements(text: &str) -> [String; 6] {
    [
        format!(
            "CREATE TABLE IF NOT EXISTS es_state (id {text} NOT NULL, run BIGINT NOT NULL, version BIGINT NOT NULL)"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS es_subscriber (name {text} PRIMARY KEY, \
             position BIGINT, hash {text}, is_lost BIGINT NOT NULL)"
        ),
        format!(
            "CREATE TABLE IF NOT EXISTS es_task (subscriber {text} NOT NULL, step {text} NOT NULL, \
             event BIGINT NOT NULL, view_index BIGINT NOT NULL, due {text} NOT NULL, step_order BIGINT NOT NULL, \
             subject {text} NOT NULL, event_type {text} NOT NULL, event_time {text} NOT NULL, attempts BIGINT NOT NULL, \
             reason {text}, retry_at {text}, is_blocked BIGINT NOT NULL, \
             PRIMARY KEY (subscriber, step, event, view_index, due))"
        ),
        "CREATE INDEX IF NOT EXISTS es_task_due \
         ON es_task (subscriber, is_blocked, due, event, step_order, step, view_index)"
            .to_owned(),
        "CREATE INDEX IF NOT EXISTS es_task_subject \
         ON es_task (subscriber, subject, due, event, step_order, step, view_index)"
            .to_owned(),
        "CREATE INDEX IF NOT EXISTS es_task_failed ON es_task (subscriber, subject) WHERE reason IS NOT NULL"
            .to_owned(),
    ]
}
