//! Rows that are written in the transaction of the events from which they follow.

use std::fmt::Debug;

use async_trait::async_trait;
use futures_util::{TryStreamExt as _, future::BoxFuture};
use sqlx::{PgConnection, postgres::PgRow};

use super::{
    database_error::DatabaseError,
    row::{self, columns},
};
use es_event::{EventId, RecordedEvent};
use es_store::event_row::{StoredRowDecoder, check_neighbours};

const READ: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM es_events e WHERE e.id >= $1 AND e.id < $2 ORDER BY e.id"
);

/// Writes rows in the transaction of the events from which they follow.
#[doc(hidden)]
#[async_trait]
pub trait InlineRows: Debug + Send + Sync {
    /// Writes the read models' rows that follow from a batch of new events. The events are inserted but not
    /// committed. The end of the log is locked.
    ///
    /// The transaction may be rolled back and repeated, so this has no effect outside of it.
    ///
    /// # Errors
    /// The transaction cannot continue. Rows that cannot be written are no error: the implementation undoes its own
    /// statements and returns `Ok`, so that the events are still appended.
    async fn write(
        &self,
        connection: &mut PgConnection,
        events: &[&RecordedEvent],
    ) -> Result<(), sqlx::Error>;
}

/// Reads the events from `first` up to but without `end`. Returns `None` if their data is larger than
/// `bytes`.
///
/// # Errors
/// The database does not answer, or holds an event that no program wrote.
#[doc(hidden)]
pub fn read_events_between(
    connection: &mut PgConnection,
    first: EventId,
    end: EventId,
    bytes: usize,
) -> BoxFuture<'_, Result<Option<Vec<RecordedEvent>>, sqlx::Error>> {
    Box::pin(async move {
        let query = sqlx::query(READ)
            .bind(row::number(first.get()))
            .bind(row::number(end.get()));
        let mut rows = query.fetch(connection);
        let mut decoder = StoredRowDecoder::default();
        let (mut events, mut size) = (Vec::new(), 0_usize);
        while let Some(row) = rows.try_next().await? {
            let event = decode_checked(&mut decoder, &row).map_err(into_sql_error)?;
            size = size.saturating_add(event.data.get().len());
            if size > bytes {
                return Ok(None);
            }
            events.push(event);
        }
        check_neighbours(&events).map_err(|flaw| into_sql_error(flaw.into()))?;
        let expected = end.get().saturating_sub(first.get());
        let missing = (first.get()..)
            .zip(&events)
            .find(|(id, event)| event.id.get() != *id);
        let missing = match missing {
            Some((id, _)) => Some(id),
            None => {
                let found = u64::try_from(events.len()).unwrap_or(u64::MAX);
                (found < expected).then(|| first.get().saturating_add(found))
            }
        };
        if let Some(id) = missing {
            let flaw = DatabaseError::flawed_event(row::number(id), "is missing");
            return Err(into_sql_error(flaw));
        }
        Ok(Some(events))
    })
}

fn decode_checked(
    decoder: &mut StoredRowDecoder,
    row: &PgRow,
) -> Result<RecordedEvent, DatabaseError> {
    Ok(decoder.decode_row(&row::read_checked(row)?.row)?)
}

fn into_sql_error(error: DatabaseError) -> sqlx::Error {
    match error {
        DatabaseError::Sql(error) => error,
        error => sqlx::Error::Decode(error.to_string().into()),
    }
}
