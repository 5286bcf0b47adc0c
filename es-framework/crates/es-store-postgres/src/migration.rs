//! The tables of the store. Any number of instances may start at once: the row of the version is
//! locked while one of them creates the tables.

use std::time::Duration;

use sqlx::PgConnection;
use tokio::time::timeout;

use super::{
    damage_record,
    database_error::{DatabaseError, PostgresOpenError},
    event_catalogue::load_catalogue,
    row_upgrade,
    store_limits::StoreLimits,
    store_version::{self, VERSION},
};
use es_event::Hash;
use es_sql::postgres::Remedy;
use es_store::{catalogue::EventTypeCatalogue, write::ChainHead};

/// The number of attempts, because statements that create the same table at once can fail.
const ATTEMPTS: u32 = 20;

const CREATE_VERSION: &str = "CREATE TABLE IF NOT EXISTS es_store_version (id SMALLINT PRIMARY KEY, version BIGINT NOT NULL)";
const INSERT_VERSION: &str =
    "INSERT INTO es_store_version (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING";

/// Each statement can run twice, because some engines do not undo it with its transaction.
const TABLES: [&str; 9] = [
    // The text of an event is stored as the API sends it, because the hash covers the exact bytes.
    "CREATE TABLE IF NOT EXISTS es_events (
        id BIGINT PRIMARY KEY,
        subject TEXT COLLATE \"C\" NOT NULL,
        type TEXT COLLATE \"C\" NOT NULL,
        source TEXT NOT NULL,
        time TEXT NOT NULL,
        traceparent TEXT,
        tracestate TEXT,
        predecessor_hash BYTEA NOT NULL,
        hash BYTEA NOT NULL,
        data TEXT NOT NULL,
        checksum BIGINT NOT NULL)",
    // The latest event of each subject.
    store_version::CREATE_SUBJECTS,
    damage_record::CREATE,
    // Answers which event of a subject is the latest, and reads a subject in order.
    "CREATE INDEX IF NOT EXISTS es_events_subject ON es_events (subject ASC, id ASC)",
    "CREATE INDEX IF NOT EXISTS es_events_type ON es_events (type ASC, id ASC)",
    // One row for each event and each subject above its own, but not for the root.
    "CREATE TABLE IF NOT EXISTS es_subtrees (
        ancestor TEXT COLLATE \"C\" NOT NULL,
        id BIGINT NOT NULL,
        PRIMARY KEY (ancestor, id))",
    "CREATE TABLE IF NOT EXISTS es_event_types (
        type TEXT COLLATE \"C\" PRIMARY KEY,
        first_event BIGINT,
        schema TEXT,
        schema_number BIGINT,
        schema_checksum BIGINT)",
    // The end of the log. Every writer locks this row.
    "CREATE TABLE IF NOT EXISTS es_head (
        id SMALLINT PRIMARY KEY,
        last BIGINT,
        hash BYTEA NOT NULL,
        time TEXT NOT NULL,
        schemas BIGINT NOT NULL)",
    "INSERT INTO es_head (id, hash, time, schemas) VALUES (1, $1, $2, 0) ON CONFLICT (id) DO NOTHING",
];

/// The statements that grant what the role lacks, one for each table.
const MISSING_RIGHTS: &str = "\
    SELECT 'GRANT ' || string_agg(needed, ', ') || ' ON ' || name || ' TO ' || quote_ident(current_user) \
    FROM (VALUES ('es_events', 'SELECT'), ('es_events', 'INSERT'), \
        ('es_subtrees', 'SELECT'), ('es_subtrees', 'INSERT'), \
        ('es_subjects', 'SELECT'), ('es_subjects', 'INSERT'), ('es_subjects', 'UPDATE'), \
        ('es_event_types', 'SELECT'), ('es_event_types', 'INSERT'), ('es_event_types', 'UPDATE'), \
        ('es_head', 'SELECT'), ('es_head', 'UPDATE'), \
        ('es_damage', 'SELECT'), ('es_damage', 'INSERT'), ('es_damage', 'UPDATE')) AS rights (name, needed) \
    WHERE NOT has_table_privilege(name, needed) GROUP BY name ORDER BY name";

/// The tables of version 2 had links between rows and the identity of the store. Without the columns, an instance of an
/// earlier version, which does not know of damage, cannot write.
const VERSION_3: [&str; 4] = [
    damage_record::CREATE,
    "ALTER TABLE es_events DROP COLUMN IF EXISTS previous_in_subject, \
     DROP COLUMN IF EXISTS previous_of_type",
    "ALTER TABLE es_event_types DROP COLUMN IF EXISTS last_event",
    "DROP TABLE IF EXISTS es_store_identity",
];

/// The row of a copy: its version is 1 while the tables have only a part of the events, and then 0.
const MARK_COPY: &str = "INSERT INTO es_store_version (id, version) VALUES (2, 1) \
     ON CONFLICT (id) DO UPDATE SET version = 1";
const MARK_END_OF_COPY: &str = "UPDATE es_store_version SET version = 0 WHERE id = 2";
const IS_COPY_UNFINISHED: &str =
    "SELECT EXISTS (SELECT 1 FROM es_store_version WHERE id = 2 AND version = 1)";

/// Creates the tables, or brings them to the current version, and loads the event types and schemas.
pub(super) async fn open_tables(
    connection: &mut PgConnection,
    limits: &StoreLimits,
) -> Result<EventTypeCatalogue, DatabaseError> {
    migrate(connection, limits).await?;
    let open = async {
        let is_copy_unfinished = sqlx::query_scalar(IS_COPY_UNFINISHED)
            .fetch_one(&mut *connection)
            .await?;
        if is_copy_unfinished {
            return Err(PostgresOpenError::UnfinishedCopy.into());
        }
        load_catalogue(connection).await
    };
    timeout(limits.write_time, open)
        .await
        .unwrap_or(Err(DatabaseError::Timeout))
}

/// Refuses a role that lacks a right that appends need. The error has the statements that grant them.
pub(super) async fn check_rights(
    connection: &mut PgConnection,
    limits: &StoreLimits,
) -> Result<(), DatabaseError> {
    let missing = sqlx::query_scalar(MISSING_RIGHTS).fetch_all(connection);
    let missing = timeout(limits.write_time, missing).await;
    let grants: Vec<String> = missing.map_err(|_| DatabaseError::Timeout)??;
    if grants.is_empty() {
        return Ok(());
    }
    let grants = grants.join("; ");
    Err(PostgresOpenError::MissingRights { grants }.into())
}

/// Records that the tables have only a part of the events.
pub(super) async fn begin_copy(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query(MARK_COPY).execute(connection).await?;
    Ok(())
}

/// Records that the tables have all events.
pub(super) async fn end_copy(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    sqlx::query(MARK_END_OF_COPY).execute(connection).await?;
    Ok(())
}

/// Creates the tables, or brings them to the current version.
pub(super) async fn migrate(
    connection: &mut PgConnection,
    limits: &StoreLimits,
) -> Result<(), DatabaseError> {
    let creation = timeout(limits.write_time, create_if_missing(connection)).await;
    if creation.unwrap_or(Err(DatabaseError::Timeout))? < 2 {
        row_upgrade::upgrade_rows(connection, limits).await?;
    }
    Ok(())
}

/// Creates the tables if they are missing. Returns their version.
async fn create_if_missing(connection: &mut PgConnection) -> Result<i64, DatabaseError> {
    for _ in 1..ATTEMPTS {
        match create_once(connection).await {
            Err(error) if is_race(&error) => {
                sqlx::query("ROLLBACK").execute(&mut *connection).await?;
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            result => return result,
        }
    }
    create_once(connection).await
}

/// Returns true if another instance created the same table at the same time.
fn is_race(error: &DatabaseError) -> bool {
    let DatabaseError::Sql(sqlx::Error::Database(database)) = error else {
        return false;
    };
    let code = database.code();
    let is_duplicate = matches!(code.as_deref(), Some("23505" | "42P07" | "42710" | "XX000"));
    is_duplicate || error.remedy() == Remedy::Repeat
}

async fn create_once(connection: &mut PgConnection) -> Result<i64, DatabaseError> {
    match store_version::read_version(connection).await {
        Ok(VERSION) => return Ok(VERSION),
        Ok(_) => {}
        Err(error) if error.is_undefined_table() => {
            sqlx::query(CREATE_VERSION)
                .execute(&mut *connection)
                .await?;
        }
        Err(error) => return Err(error),
    }
    sqlx::query(INSERT_VERSION)
        .execute(&mut *connection)
        .await?;
    sqlx::query("BEGIN").execute(&mut *connection).await?;
    sqlx::query("SELECT 1 FROM es_store_version WHERE id = 1 FOR UPDATE")
        .execute(&mut *connection)
        .await?;
    // Read again: another instance may have finished while this one waited for the lock.
    let mut found = store_version::read_version(connection).await?;
    if found > VERSION {
        let known = VERSION;
        return Err(PostgresOpenError::Newer { found, known }.into());
    }
    match found {
        ..1 => {
            create_tables(connection).await?;
            found = VERSION;
        }
        1 | 2 => {
            for statement in VERSION_3 {
                sqlx::query(statement).execute(&mut *connection).await?;
            }
            if found == 2 {
                store_version::set_version(connection, VERSION).await?;
            }
        }
        VERSION.. => {}
    }
    sqlx::query("COMMIT").execute(&mut *connection).await?;
    Ok(found)
}

async fn create_tables(connection: &mut PgConnection) -> Result<(), DatabaseError> {
    for statement in TABLES {
        let mut query = sqlx::query(statement);
        if statement.contains("$1") {
            let time = ChainHead::EMPTY.time.to_string();
            query = query.bind(Hash::ZERO.as_bytes().to_vec()).bind(time);
        }
        query.execute(&mut *connection).await?;
    }
    store_version::set_version(connection, VERSION).await
}
