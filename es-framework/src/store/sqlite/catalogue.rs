//! What the store knows of its subjects and types, read off the index and off a few rows.

use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use rusqlite::Connection;

use super::{
    error::DiskError,
    key::{Family, Key, unpack},
    read::Reader,
    row::{self, flawed},
};
use crate::{
    event::{EventType, Subject},
    store::{
        EventSchema, RegisterError, SchemaConflict, StoreError, SubjectStream,
        subjects::SubjectTree,
    },
};

/// How many rows one step looks at: a long transaction would keep the log from being used again.
const STEP: u64 = 16_384;

/// The subjects of the index on disk after one, in its order. The index has an entry an event.
const SUBJECTS: &str = "SELECT DISTINCT subject FROM subject_index \
     WHERE subject > ?1 AND subject < ?2 ORDER BY subject LIMIT ?3";

impl Reader {
    /// The subjects at and below one, sorted.
    pub(super) fn subjects(self, base: Subject) -> SubjectStream {
        let most = self.settings().subjects;
        let parts = stream::try_unfold(Some(None), move |after| {
            let (reader, base) = (self.clone(), base.clone());
            async move {
                let Some(after) = after else {
                    return Ok::<_, StoreError>(None);
                };
                let tree = reader.some_subjects(base, after, most).await?;
                let part: Vec<_> = tree.into_sorted().collect();
                let last = part.last().filter(|_| part.len() >= most).cloned();
                let part = stream::iter(part).map(Ok);
                Ok(Some((part, last.map(Some))))
            }
        });
        parts.try_flatten().boxed()
    }

    /// The first of those behind one. An order by text is not the order of the index, so all of it
    /// is looked at each time: memory stays bounded, and lists that are not huge take one look.
    async fn some_subjects(
        &self,
        base: Subject,
        after: Option<Subject>,
        most: usize,
    ) -> Result<SubjectTree, StoreError> {
        let family = Family::of(base.as_str());
        let mut tree = SubjectTree::part(base, after, most);
        // First those in memory: what leaves it meanwhile is on disk before that.
        for key in self.newest_subjects(&family) {
            insert(&mut tree, &key).map_err(|error| self.failed(&error))?;
        }
        if self.has_subject(&family.itself).await? {
            insert(&mut tree, &family.itself).map_err(|error| self.failed(&error))?;
        }
        let mut after = family.below_from.clone();
        // The base with a slash at its end is the one subject that the bound itself names.
        if self.has_subject(&after).await? {
            insert(&mut tree, &after).map_err(|error| self.failed(&error))?;
        }
        loop {
            let (from, to) = (after, family.below_to.clone());
            let keys = self
                .with(move |connection| subjects(connection, &from, &to))
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

    fn newest_subjects(&self, family: &Family) -> Vec<Key> {
        self.shared().tail().subjects_within(family)
    }

    async fn has_subject(&self, key: &Key) -> Result<bool, StoreError> {
        let key = key.clone();
        self.with(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM subject_index WHERE subject = ?1")?;
            Ok(statement.exists([&*key])?)
        })
        .await
    }

    /// Checks the events that are there now. Says from which one on there may be others.
    pub(super) async fn check_existing(
        &self,
        event_type: &EventType,
        schema: &Arc<EventSchema>,
    ) -> Result<u64, RegisterError> {
        let length = self.shared().tail().length();
        let first = self.shared().catalogue().first(event_type);
        let (Some(first), Some(last)) = (first, length.checked_sub(1)) else {
            return Ok(length);
        };
        let mut existing = Existing {
            event_type: event_type.clone(),
            schema: Arc::clone(schema),
            next: first.get(),
            last,
        };
        loop {
            let checked = self.with(move |connection| {
                let found = existing.check_some(connection)?;
                Ok((existing, found))
            });
            let (checked, found) = checked.await?;
            match found {
                Found::Nothing => return Ok(length),
                Found::Conflict(conflict) => return Err(conflict.into()),
                Found::NotYet => existing = checked,
            }
        }
    }

    fn failed(&self, error: &DiskError) -> StoreError {
        error.at(&self.shared().file)
    }
}

fn insert(tree: &mut SubjectTree, key: &[u8]) -> Result<(), DiskError> {
    let subject = unpack(key).and_then(|text| text.parse().ok());
    let broken = || DiskError::Broken("the index has a broken subject".into());
    tree.insert(subject.ok_or_else(broken)?);
    Ok(())
}

fn subjects(connection: &Connection, after: &[u8], to: &[u8]) -> Result<Vec<Key>, DiskError> {
    let mut statement = connection.prepare_cached(SUBJECTS)?;
    let mut rows = statement.query((after, to, row::number(STEP)))?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next()? {
        let key = row.get_ref(0)?.as_blob();
        let broken = |_| DiskError::Broken("the index has a subject of another kind".into());
        keys.push(key.map_err(broken)?.into());
    }
    Ok(keys)
}

/// The stored events that a new schema has to fit, looked at some at a time.
#[derive(Debug)]
pub(super) struct Existing {
    pub(super) event_type: EventType,
    pub(super) schema: Arc<EventSchema>,
    pub(super) next: u64,
    pub(super) last: u64,
}

/// What a step found.
#[derive(Debug)]
pub(super) enum Found {
    /// All fit.
    Nothing,
    Conflict(SchemaConflict),
    /// There are more to look at.
    NotYet,
}

impl Existing {
    pub(super) fn check_some(&mut self, connection: &Connection) -> Result<Found, DiskError> {
        if self.next > self.last {
            return Ok(Found::Nothing);
        }
        let end = self.next.saturating_add(STEP);
        let mut statement = connection.prepare_cached(
            "SELECT id, data FROM events WHERE id >= ?1 AND id < ?2 AND type = ?3 ORDER BY id",
        )?;
        let (first, last) = (row::number(self.next), row::number(end));
        let mut rows = statement.query((first, last, self.event_type.as_str()))?;
        while let Some(row) = rows.next()? {
            let id: i64 = row.get(0)?;
            let data = row.get_ref(1)?.as_str();
            let data = serde_json::from_str(data.map_err(|error| flawed(id, error))?);
            let data: &serde_json::value::RawValue = data.map_err(|error| flawed(id, error))?;
            if let Err(reason) = self.schema.check(data) {
                let id = row::id(id)?;
                return Ok(Found::Conflict(SchemaConflict::Event { id, reason }));
            }
        }
        self.next = end;
        Ok(Found::NotYet)
    }
}
