//! Keeps the groups of characters that find parts of texts, a chunk of rows at a time.

use rusqlite::Connection;

use super::super::super::{Table, search};

/// How many rows are taken in one transaction, for which projecting waits.
const CHUNK: u32 = 1_000;

/// Adds the groups of the next rows, and says whether more may follow. The table of the groups is
/// made anew if the one that is there belongs to rows that are gone.
pub(super) fn advance(connection: &Connection, table: &Table) -> Result<bool, rusqlite::Error> {
    let kept: u32 = connection
        .prepare_cached(search::IS_KEPT)?
        .query_row([search::keeper(table)], |row| row.get(0))?;
    if kept == 0 {
        for statement in search::create(table) {
            connection.execute_batch(&statement)?;
        }
    }
    let added = connection
        .prepare_cached(&search::advance(table))?
        .execute([CHUNK])?;
    Ok(u32::try_from(added) == Ok(CHUNK))
}
