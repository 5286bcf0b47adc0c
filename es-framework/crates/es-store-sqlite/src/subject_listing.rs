//! Lists subjects in order, from the index.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use rusqlite::Connection;

use super::{
    database_error::SqliteError,
    index::{IndexKey, SubjectKeyRange, subject_of_key},
    reader::EventReader,
    row,
};
use es_event::Subject;
use es_store::{StoreError, SubjectStream, subjects::SubjectListing};

/// The number of subjects that one step reads. A long transaction would keep the write-ahead log from
/// being reused.
const STEP: u64 = 16_384;

const SUBJECTS: &str = "SELECT DISTINCT key FROM event_index \
     WHERE key > ?1 AND key < ?2 ORDER BY key LIMIT ?3";

impl EventReader {
    /// Lists a subject and all subjects below it, sorted.
    pub(super) fn list_subjects(self, base: Subject) -> SubjectStream {
        let most = self.settings().subjects;
        let parts = stream::try_unfold(Some(None), move |after| {
            let (reader, base) = (self.clone(), base.clone());
            async move {
                let Some(after) = after else {
                    return Ok::<_, StoreError>(None);
                };
                let tree = reader.next_subjects(base, after, most).await?;
                let part: Vec<_> = tree.into_sorted().collect();
                let last = part.last().filter(|_| part.len() >= most).cloned();
                let part = stream::iter(part).map(Ok);
                Ok(Some((part, last.map(Some))))
            }
        });
        parts.try_flatten().boxed()
    }

    /// Returns the first `most` subjects after one. The index does not have the order of the texts, so
    /// each call reads all subjects below the base. Memory stays bounded, and most listings take one
    /// call.
    async fn next_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        most: usize,
    ) -> Result<SubjectListing, StoreError> {
        let range = SubjectKeyRange::for_subtree(base.as_str());
        let mut tree = SubjectListing::new(base, after, most);
        // Memory comes first: entries that leave it meanwhile are on disk by then.
        for key in self.newest_subjects(&range) {
            insert(&mut tree, &key).map_err(|error| self.failed(&error))?;
        }
        if self.has_subject(&range.base).await? {
            insert(&mut tree, &range.base).map_err(|error| self.failed(&error))?;
        }
        let mut after = range.below_from.clone();
        // The query excludes its lower bound, which is the key of the base with a slash at its end.
        if self.has_subject(&after).await? {
            insert(&mut tree, &after).map_err(|error| self.failed(&error))?;
        }
        loop {
            let (from, to) = (after, range.below_to.clone());
            let keys = self
                .with_connection(move |connection| subjects(connection, &from, &to))
                .await?;
            for key in &keys {
                insert(&mut tree, key).map_err(|error| self.failed(&error))?;
            }
            after = match keys.into_iter().next_back() {
                Some(last) => last,
                None => return Ok(tree),
            };
        }
    }

    fn newest_subjects(&self, range: &SubjectKeyRange) -> Vec<IndexKey> {
        self.shared().log().index.subjects_in_memory(range)
    }

    async fn has_subject(&self, key: &IndexKey) -> Result<bool, StoreError> {
        let key = key.clone();
        self.with_connection(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM event_index WHERE key = ?1")?;
            Ok(statement.exists([&*key])?)
        })
        .await
    }

    fn failed(&self, error: &SqliteError) -> StoreError {
        error.to_store_error(&self.shared().file)
    }
}

fn insert(tree: &mut SubjectListing, key: &[u8]) -> Result<(), SqliteError> {
    let subject = subject_of_key(key).and_then(|text| Subject::parse_recorded(&text).ok());
    let broken = || SqliteError::Broken("the index has a broken subject".into());
    tree.add_subject(subject.ok_or_else(broken)?);
    Ok(())
}

fn subjects(
    connection: &Connection,
    after: &[u8],
    to: &[u8],
) -> Result<Vec<IndexKey>, SqliteError> {
    let mut statement = connection.prepare_cached(SUBJECTS)?;
    let mut rows = statement.query((after, to, row::number(STEP)))?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row.get_ref(0)?.as_blob();
        let broken = |_| SqliteError::Broken("the index has a subject of another kind".into());
        keys.push(key.map_err(broken)?.into());
    }
    Ok(keys)
}
