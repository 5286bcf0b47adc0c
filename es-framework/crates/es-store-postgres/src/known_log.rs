//! The part of a log that an instance knows. It uses only a server that has this part.

use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    database_error::{DatabaseError, LogLoss, PostgresOpenError},
    row,
    seen_event::SeenEvent,
    store_address::ServerConnectOptions,
    store_identity::read_identity,
};
use es_event::{EventId, Hash};
use es_store::durable_end::EndRecord;

const HASH: &str = "SELECT hash FROM es_events WHERE id = $1";
const LAST: &str = "SELECT max(id) FROM es_events";
const SCHEMAS: &str = "SELECT schemas FROM es_head WHERE id = 1";

/// The part of a log that an instance has used, in this process or in an earlier one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct KnownLog {
    /// The identity of the store, or `None` before the first contact.
    pub(super) identity: Option<Uuid>,
    /// The newest event.
    pub(super) last: Option<SeenEvent>,
    /// The number of schemas.
    pub(super) schemas: u64,
}

impl From<EndRecord> for KnownLog {
    fn from(record: EndRecord) -> Self {
        let last = record.events.checked_sub(1).and_then(EventId::new);
        Self {
            identity: record.identity,
            last: last.map(|id| SeenEvent {
                id,
                hash: record.hash,
            }),
            schemas: record.schemas,
        }
    }
}

impl KnownLog {
    pub(super) fn end_record(&self) -> EndRecord {
        EndRecord {
            events: EventId::count_to(self.last.map(|last| last.id)),
            hash: self.last.map_or(Hash::ZERO, |last| last.hash),
            schemas: self.schemas,
            identity: self.identity,
        }
    }

    /// Refuses a server that lacks a part of this log, or has another one.
    pub(super) async fn check_server(
        &self,
        connection: &mut PgConnection,
        server: &ServerConnectOptions,
    ) -> Result<(), DatabaseError> {
        let loss = match self.find_loss(connection).await? {
            Some(loss) => loss,
            None => return Ok(()),
        };
        let server = server.to_string();
        Err(PostgresOpenError::LostEvents { server, loss }.into())
    }

    /// Returns the first difference of a database from this log.
    pub(super) async fn find_loss(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Option<LogLoss>, DatabaseError> {
        let Some(expected) = self.identity else {
            return Ok(None);
        };
        let events = EventId::count_to(self.last.map(|last| last.id));
        let found = read_identity(connection).await?;
        let other = LogLoss::OtherStore {
            found,
            expected,
            events,
        };
        if found.is_some_and(|found| found != expected) {
            return Ok(Some(other));
        }
        if let Some(loss) = self.find_lost_event(connection, events).await? {
            return Ok(Some(loss));
        }
        if found.is_none() {
            return Ok(Some(other));
        }
        let expected = self.schemas;
        let found = read_number(connection, SCHEMAS).await?.unwrap_or(0);
        Ok((found < expected).then_some(LogLoss::Schemas { found, expected }))
    }

    async fn find_lost_event(
        &self,
        connection: &mut PgConnection,
        expected: u64,
    ) -> Result<Option<LogLoss>, DatabaseError> {
        let Some(SeenEvent { id, hash }) = self.last else {
            return Ok(None);
        };
        let query = sqlx::query_scalar::<_, Vec<u8>>(HASH).bind(row::number(id.get()));
        let found = or_no_table(query.fetch_optional(&mut *connection).await)?;
        if let Some(found) = found {
            let is_same = row::hash(&found) == Some(hash);
            return Ok((!is_same).then_some(LogLoss::OtherEvent { event: id }));
        }
        let last = read_number(connection, LAST).await?;
        let found = last.map_or(0, |last| last.saturating_add(1));
        Ok(Some(LogLoss::Events { found, expected }))
    }
}

async fn read_number(
    connection: &mut PgConnection,
    statement: &'static str,
) -> Result<Option<u64>, DatabaseError> {
    let query = sqlx::query_scalar::<_, Option<i64>>(statement);
    let number = or_no_table(query.fetch_optional(connection).await)?;
    Ok(number
        .flatten()
        .and_then(|number| u64::try_from(number).ok()))
}

/// A table that is missing has no row.
fn or_no_table<T>(result: Result<Option<T>, sqlx::Error>) -> Result<Option<T>, DatabaseError> {
    match result.map_err(DatabaseError::from) {
        Err(error) if error.is_undefined_table() => Ok(None),
        result => result,
    }
}
