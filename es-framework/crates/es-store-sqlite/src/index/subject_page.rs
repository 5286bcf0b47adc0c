//! Reads the subjects of the index on disk in pages. The length of a page is a number of entries and not of subjects,
//! because a subject has an entry for each of its events.

use rusqlite::Connection;

use super::key::IndexKey;
use crate::{database_error::SqliteError, row};

const ENTRIES: &str = "SELECT key, event_id FROM event_index \
     WHERE (key, event_id) > (?1, ?2) AND key < ?3 ORDER BY key, event_id LIMIT ?4";

/// The position of an entry on disk, behind which a page begins.
pub(crate) type EntryPosition = (IndexKey, i64);

/// The subjects of consecutive entries.
#[derive(Debug)]
pub(crate) struct SubjectPage {
    /// The keys of the subjects, each of them once.
    pub(crate) subjects: Vec<IndexKey>,
    /// The last entry; `None` if there are no further entries.
    pub(crate) last: Option<EntryPosition>,
}

/// Reads the subjects of the next `limit` entries whose keys are less than `to`.
pub(crate) fn read_subject_page(
    connection: &Connection,
    (key, id): &EntryPosition,
    to: &[u8],
    limit: u64,
) -> Result<SubjectPage, SqliteError> {
    let mut statement = connection.prepare_cached(ENTRIES)?;
    let mut rows = statement.query((&**key, id, to, row::number(limit)))?;
    let mut subjects = Vec::<IndexKey>::new();
    let mut last_id = None;
    while let Some(row) = rows.next()? {
        let broken =
            |_| SqliteError::damaged_table("event_index", "it has a subject of another kind");
        let key = row.get_ref(0)?.as_blob().map_err(broken)?;
        if subjects.last().is_none_or(|last| **last != *key) {
            subjects.push(key.into());
        }
        last_id = Some(row.get(1)?);
    }
    let last = subjects.last().cloned().zip(last_id);
    Ok(SubjectPage { subjects, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_limit_within_a_subject_with_many_events() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE event_index (key BLOB, event_id INTEGER, PRIMARY KEY (key, event_id)) WITHOUT ROWID;
                 WITH ids (id) AS (VALUES (0) UNION ALL SELECT id + 1 FROM ids WHERE id < 99)
                 INSERT INTO event_index SELECT CAST('/b' AS BLOB), id FROM ids;
                 INSERT INTO event_index VALUES (CAST('/a' AS BLOB), 7), (CAST('/c' AS BLOB), 8);",
            )
            .unwrap();
        let mut pages = Vec::new();
        let mut after: EntryPosition = (b"/".as_slice().into(), -1);
        while let Some(last) = {
            let page = read_subject_page(&connection, &after, b"/c", 40).unwrap();
            let texts = page
                .subjects
                .iter()
                .map(|key| String::from_utf8_lossy(key).into_owned());
            pages.push(texts.collect::<Vec<_>>());
            page.last
        } {
            after = last;
        }
        assert_eq!(after, (b"/b".as_slice().into(), 99));
        assert_eq!(pages, [vec!["/a", "/b"], vec!["/b"], vec!["/b"], vec![]]);
    }
}
