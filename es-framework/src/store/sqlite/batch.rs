//! The appends that share a commit: checked, numbered, dated and chained one after the other.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _};

use super::{
    key::{Key, pack},
    queue::{Answer, Append},
    row,
    tail::{Entry, Tail},
};
use crate::{
    event::{EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent, Subject},
    store::{Conflict, Precondition, StoreError, catalogue::Catalogue},
};

const NEW_TYPE: &str = "INSERT INTO event_types (type, first_event) VALUES (?1, ?2)";

/// The latest event of a subject and those below it among the events from some id on. These are
/// looked at one by one: what a writer has read is recent.
const LATEST_BELOW: &str = "SELECT id FROM events WHERE id > ?1 AND \
     (subject = ?2 OR substr(subject, 1, length(?2) + 1) = ?2 || '/') ORDER BY id DESC LIMIT 1";
const LATEST: &str =
    "SELECT event_id FROM subject_index WHERE subject = ?1 ORDER BY event_id DESC LIMIT 1";

/// The end of the chain, where the next event goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    /// `None` when every id is taken.
    pub(super) next: Option<EventId>,
    pub(super) predecessor: Hash,
    /// The time of the last event.
    pub(super) time: Timestamp,
}

impl Head {
    pub(super) const EMPTY: Self = Self {
        next: Some(EventId::FIRST),
        predecessor: Hash::ZERO,
        time: Timestamp::UNIX_EPOCH,
    };

    /// The last event of the chain.
    fn last(&self) -> Option<EventId> {
        let next = self
            .next
            .map_or(EventId::MAX.saturating_add(1), EventId::get);
        EventId::new(next.checked_sub(1)?)
    }
}

/// Appends that were carried out in a transaction that is still open.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    tail: &'a Tail,
    catalogue: &'a Catalogue,
    /// The end of the chain with this batch.
    pub(super) head: Head,
    time: EventTime,
    /// The latest events of the subjects that this batch wrote to.
    latest: HashMap<Key, EventId>,
    /// What the index has of its events, in their order.
    pub(super) entries: Vec<Entry>,
    /// The types that no event before this batch had, each with its first event.
    pub(super) types: Vec<(EventType, EventId)>,
    /// The type that was looked at last: neighbours often share it.
    known: Option<(EventType, u64)>,
    /// What becomes of each append if the transaction is committed.
    pub(super) outcomes: Vec<Answer>,
}

struct Statements<'a> {
    insert: CachedStatement<'a>,
    latest: CachedStatement<'a>,
}

impl<'a> Batch<'a> {
    /// All events of a batch have one time: they become durable at once. It never goes back, even
    /// if the machine's clock does.
    pub(super) fn new(
        tail: &'a Tail,
        catalogue: &'a Catalogue,
        mut head: Head,
        appends: usize,
    ) -> Self {
        head.time = head.time.max(Timestamp::now());
        Self {
            tail,
            catalogue,
            head,
            time: EventTime::at(head.time),
            latest: HashMap::with_capacity(appends),
            entries: Vec::with_capacity(appends),
            types: Vec::new(),
            known: None,
            outcomes: Vec::with_capacity(appends),
        }
    }

    /// Decides on all appends and inserts the events of those that may pass.
    pub(super) fn carry_out(
        &mut self,
        connection: &Connection,
        appends: &mut [Append],
    ) -> rusqlite::Result<()> {
        let mut statements = Statements {
            insert: row::insert_statement(connection)?,
            latest: connection.prepare_cached(LATEST)?,
        };
        for append in appends {
            let outcome = self.append(connection, &mut statements, append)?;
            self.outcomes.push(outcome);
        }
        Ok(())
    }

    fn append(
        &mut self,
        connection: &Connection,
        statements: &mut Statements<'_>,
        append: &mut Append,
    ) -> rusqlite::Result<Answer> {
        // Checked when it came, off this thread; again only where a schema has come since.
        if append.schemas != self.catalogue.schemas()
            && let Err(conflict) = self.catalogue.check(&append.candidates)
        {
            return Ok(Err(conflict.into()));
        }
        for precondition in &append.preconditions {
            let latest = match precondition {
                Precondition::SubtreeIsUnchangedSince(subject, since) => {
                    latest_below(connection, subject, *since)?
                }
                Precondition::StoreIsOnEventId(_) => self.head.last(),
                Precondition::SubjectIsPristine(subject)
                | Precondition::SubjectIsPopulated(subject)
                | Precondition::SubjectIsOnEventId(subject, _) => {
                    self.latest(statements, subject)?
                }
            };
            if !precondition.holds(latest) {
                return Ok(Err(Conflict.into()));
            }
        }
        let candidates = std::mem::take(&mut append.candidates);
        let Some(recorded) = self.record(candidates) else {
            let full = StoreError::Full("every event id is taken".into());
            return Ok(Err(full.into()));
        };
        for event in &recorded {
            row::insert(&mut statements.insert, event)?;
            let event_type = self.note_type(connection, event)?;
            let subject = pack(event.subject.as_str());
            self.latest.insert(subject.clone(), event.id);
            self.entries.push(Entry {
                subject,
                event_type,
            });
        }
        Ok(Ok(recorded))
    }

    /// The first event of an event's type, which may be itself.
    fn note_type(
        &mut self,
        connection: &Connection,
        event: &RecordedEvent,
    ) -> rusqlite::Result<u64> {
        let event_type = &event.event_type;
        if let Some((known, first)) = &self.known
            && known == event_type
        {
            return Ok(*first);
        }
        let in_batch = || self.types.iter().find(|(known, _)| known == event_type);
        let known = self.catalogue.first(event_type);
        let first = match known.or_else(|| in_batch().map(|(_, first)| *first)) {
            Some(first) => first,
            None => {
                let id = row::number(event.id.get());
                connection.execute(NEW_TYPE, (event_type.as_str(), id))?;
                self.types.push((event_type.clone(), event.id));
                event.id
            }
        };
        self.known = Some((event_type.clone(), first.get()));
        Ok(first.get())
    }

    /// The latest event of a subject: from this batch, from memory, or from the disk.
    fn latest(
        &self,
        statements: &mut Statements<'_>,
        subject: &Subject,
    ) -> rusqlite::Result<Option<EventId>> {
        let subject = pack(subject.as_str());
        if let Some(id) = self.latest.get(&subject) {
            return Ok(Some(*id));
        }
        if self.tail.filter.is_new(&subject) {
            return Ok(None);
        }
        if let Some(id) = self.tail.latest(&subject) {
            return Ok(EventId::new(id));
        }
        let id = statements
            .latest
            .query_row([&*subject], |row| row.get::<_, i64>(0))
            .optional()?;
        Ok(id.and_then(|id| EventId::new(u64::try_from(id).ok()?)))
    }

    /// Chains the candidates, all or none: `None` when the ids run out.
    fn record(&mut self, candidates: Vec<EventCandidate>) -> Option<Vec<RecordedEvent>> {
        let mut head = self.head;
        let mut recorded = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let id = head.next?;
            let event = RecordedEvent::record(candidate, id, self.time.clone(), head.predecessor);
            head.next = id.next();
            head.predecessor = event.hash;
            recorded.push(event);
        }
        self.head = head;
        Some(recorded)
    }
}

fn latest_below(
    connection: &Connection,
    subject: &Subject,
    since: Option<EventId>,
) -> rusqlite::Result<Option<EventId>> {
    let since = since.map_or(-1, |id| row::number(id.get()));
    let base = subject.as_str().trim_end_matches('/');
    let mut statement = connection.prepare_cached(LATEST_BELOW)?;
    let id = statement
        .query_row((since, base), |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(id.and_then(|id| EventId::new(u64::try_from(id).ok()?)))
}
