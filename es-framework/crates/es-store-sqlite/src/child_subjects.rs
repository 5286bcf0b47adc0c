//! Lists the subjects directly below another one, from the index. Each step skips the rest of a subtree.

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    database_error::SqliteError,
    index::{IndexKey, SubjectKeyRange, child_of_key, subject_key, subject_of_key},
    reader::EventReader,
};
use es_event::Subject;
use es_store::StoreError;

const FIRST_KEY: &str =
    "SELECT key FROM event_index WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT 1";

impl EventReader {
    /// Lists the subjects directly below `base` that come after `after`: at most `limit`, in the order of the index.
    pub(super) async fn child_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        limit: usize,
    ) -> Result<Vec<Subject>, StoreError> {
        let reader = self.clone();
        self.with_connection(move |connection| {
            let range = SubjectKeyRange::for_subtree(base.as_str());
            let mut from = range.below_from.clone();
            if base == Subject::root() {
                // The root is no subject below itself.
                from = least_key_after(&from);
            }
            if let Some(after) = &after {
                from = from.max(reader.key_after(connection, &subject_key(after.as_str()))?);
            }
            let mut children = Vec::new();
            while children.len() < limit {
                let Some(key) = reader.first_key(connection, &from, &range.below_to)? else {
                    break;
                };
                let child = child_of_key(&range.below_from, &key).ok_or_else(broken_key)?;
                // A subject with events of its own was listed before its descendants.
                if *child == *key || !reader.has_events(connection, child)? {
                    let subject =
                        subject_of_key(child).and_then(|text| Subject::parse_recorded(&text).ok());
                    children.push(subject.ok_or_else(broken_key)?);
                }
                from = if *child == *key {
                    least_key_after(child)
                } else {
                    least_key_after_subtree(child)
                };
            }
            Ok(children)
        })
        .await
    }

    /// Returns the key from which the listing continues after a child.
    fn key_after(&self, connection: &Connection, child: &[u8]) -> Result<IndexKey, SqliteError> {
        Ok(if self.has_events(connection, child)? {
            least_key_after(child)
        } else {
            least_key_after_subtree(child)
        })
    }

    fn has_events(&self, connection: &Connection, key: &[u8]) -> Result<bool, SqliteError> {
        let first = self.first_key(connection, key, &least_key_after(key))?;
        Ok(first.is_some())
    }

    /// Returns the first key of a range.
    fn first_key(
        &self,
        connection: &Connection,
        from: &[u8],
        to: &[u8],
    ) -> Result<Option<IndexKey>, SqliteError> {
        // Memory comes first: entries that leave it meanwhile are on disk by then.
        let in_memory = self.shared().log().index.first_key_in_memory(from, to);
        let mut statement = connection.prepare_cached(FIRST_KEY)?;
        let on_disk = statement.query_row([from, to], |row| row.get::<_, Vec<u8>>(0));
        let on_disk = on_disk.optional()?.map(Vec::into_boxed_slice);
        Ok(in_memory.into_iter().chain(on_disk).min())
    }
}

fn least_key_after(key: &[u8]) -> IndexKey {
    [key, &[0]].concat().into()
}

/// The character `0` comes right after the slash.
fn least_key_after_subtree(key: &[u8]) -> IndexKey {
    [key, b"0"].concat().into()
}

fn broken_key() -> SqliteError {
    SqliteError::damaged_table("event_index", "it has a broken subject")
}
