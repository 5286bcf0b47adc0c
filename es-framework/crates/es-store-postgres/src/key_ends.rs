//! The latest events of subjects and types up to an id, as the links and the lists of the database name them.

use sqlx::{AssertSqlSafe, PgConnection};

use super::{
    database_error::DatabaseError,
    row::{self, number},
};
use es_event::EventId;

/// A table that lists keys with their latest events, and the columns of the events that belong to it.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyList {
    Subjects,
    Types,
}

/// The end of the log, and the latest events of some keys in the same snapshot.
#[derive(Debug)]
pub(super) struct KeyEnds {
    pub(super) end: Option<EventId>,
    pub(super) latest: Vec<Option<EventId>>,
}

impl KeyList {
    /// Returns the statement. Without a limit, no event comes after the latest one.
    fn statement(self, is_limited: bool) -> String {
        let (key, link, table, last) = match self {
            Self::Subjects => ("subject", "previous_in_subject", "es_subjects", "last"),
            Self::Types => ("type", "previous_of_type", "es_event_types", "last_event"),
        };
        let listed = format!("(SELECT k.{last} FROM {table} k WHERE k.{key} = wanted.key)");
        let next = format!("FROM es_events n WHERE n.{key} = wanted.key AND n.id > $2");
        let latest = if is_limited {
            format!(
                "CASE WHEN EXISTS (SELECT 1 {next}) \
                     THEN (SELECT n.{link} {next} ORDER BY n.id LIMIT 1) ELSE {listed} END"
            )
        } else {
            format!("CASE WHEN $2::bigint IS NOT NULL THEN {listed} END")
        };
        format!(
            "SELECT h.last, h.last IS NULL OR EXISTS (SELECT 1 FROM es_events e WHERE e.id = h.last), \
             {latest} FROM es_head h CROSS JOIN UNNEST($1::text[]) AS wanted (key) WHERE h.id = 1"
        )
    }

    /// Returns the latest event of each key up to the id `last`.
    pub(super) async fn read_ends(
        self,
        connection: &mut PgConnection,
        keys: &[&str],
        last: u64,
    ) -> Result<KeyEnds, DatabaseError> {
        let rows: Vec<(Option<i64>, bool, Option<i64>)> =
            sqlx::query_as(AssertSqlSafe(self.statement(last < EventId::MAX)))
                .bind(keys)
                .bind(number(last))
                .fetch_all(connection)
                .await?;
        let Some((end, has_last, _)) = rows.first() else {
            return Err(DatabaseError::missing_head());
        };
        let end = end.map(row::to_event_id).transpose()?;
        if let Some(last) = end.filter(|_| !has_last) {
            return Err(DatabaseError::missing_last(last));
        }
        let latest = rows
            .iter()
            .map(|(_, _, id)| id.map(row::to_event_id).transpose());
        Ok(KeyEnds {
            end,
            latest: latest.collect::<Result<_, _>>()?,
        })
    }
}
