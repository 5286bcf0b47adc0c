//! Lists subjects in order, from the index.

use super::{
    database_error::SqliteError,
    index::{IndexKey, SubjectKeyRange, read_subject_page, subject_of_key},
    reader::EventReader,
};
use es_event::Subject;
use es_store::{StoreError, SubjectStream, subjects::SubjectListing};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};

/// The number of index entries that one step reads. A long transaction would keep the write-ahead log from
/// being reused.
const STEP: u64 = 16_384;

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
        let mut after = (range.below_from.clone(), -1);
        loop {
            let to = range.below_to.clone();
            let page = self
                .with_connection(move |connection| read_subject_page(connection, &after, &to, STEP))
                .await?;
            for key in &page.subjects {
                insert(&mut tree, key).map_err(|error| self.failed(&error))?;
            }
            after = match page.last {
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
    let broken = || SqliteError::damaged_table("event_index", "it has a broken subject");
    tree.add_subject(subject.ok_or_else(broken)?);
    Ok(())
}
