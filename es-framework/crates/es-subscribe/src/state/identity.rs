//! The identity of the state database. The events name the database that has the tasks of their reactions, so that a
//! database that was lost or restored from a copy is noticed before a call is made twice.

use std::sync::Arc;

use es_event::{EventCandidate, EventId, EventType, Metadata, Subject};
use es_sql::{Cell, Statement};
use es_store::{AppendError, EventLog, Order, Precondition, ReadOptions, StoreError};
use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};

use super::{StateDatabase, StateError, beginning, tables::DatabaseIdentity};
use crate::SubscriberCheckpoint;

/// The subject of the events that name the database.
const SUBJECT: &str = "/es-framework/state-database";
/// The type of these events.
const OPENED: EventType = EventType::declared("io.es-framework.StateDatabaseOpenedEvent");
const MARK_LOST: &str = "INSERT INTO es_subscriber (name, is_lost) VALUES ($1, 1) \
     ON CONFLICT (name) DO UPDATE SET is_lost = 1";

/// The payload of the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OpenedPayload {
    database: String,
    /// The number of the runs of the database that have executed tasks.
    run: i64,
}

/// The last announcement in an event store.
struct LastAnnouncement {
    payload: Option<OpenedPayload>,
    /// The newest event on the subject, which need not be an announcement: anybody with the API token can write there.
    newest: Option<EventId>,
}

impl LastAnnouncement {
    async fn read(store: &dyn EventLog, subject: &Subject) -> Result<Self, StoreError> {
        let newest_first = ReadOptions {
            order: Order::Antichronological,
            ..ReadOptions::default()
        };
        let mut events = store.read(subject.clone(), newest_first);
        let mut newest = None;
        while let Some(event) = events.try_next().await? {
            newest = newest.or(Some(event.id));
            if event.event_type == OPENED
                && let Ok(payload) = event.payload()
            {
                let payload = Some(payload);
                return Ok(Self { payload, newest });
            }
        }
        let payload = None;
        Ok(Self { payload, newest })
    }

    /// Compares the announcement with a database.
    fn check(&self, identity: &DatabaseIdentity) -> Result<(), StateError> {
        match &self.payload {
            Some(announced) if announced.database != identity.id => Err(StateError::OtherDatabase),
            Some(announced) if announced.run > identity.run => Err(StateError::OldCopy),
            _ => Ok(()),
        }
    }
}

impl StateDatabase {
    /// Checks that the events do not name another database or a later run of this one.
    ///
    /// # Errors
    /// They do, the event store does not answer, or this process does not own the database.
    pub async fn check_identity(&self, store: &dyn EventLog) -> Result<(), StateError> {
        let last = LastAnnouncement::read(store, &subject()?).await?;
        last.check(&self.identity()?)
    }

    /// Names the database in the event store, once in each ownership: before the first task is planned or executed, so that
    /// an application whose reactions have nothing to do writes nothing.
    ///
    /// # Errors
    /// The events name another database or a later run of this one, the event store does not answer, or this process does
    /// not own the database.
    pub async fn announce(
        &self,
        store: &dyn EventLog,
        source: &Arc<str>,
    ) -> Result<(), StateError> {
        if self.is_announced()? {
            return Ok(());
        }
        let _announcing = self.instance.announcing.lock().await;
        if self.is_announced()? {
            return Ok(());
        }
        let subject = subject()?;
        let last = LastAnnouncement::read(store, &subject).await?;
        last.check(&self.identity()?)?;
        self.append_announcement(store, source, subject, last).await
    }

    async fn append_announcement(
        &self,
        store: &dyn EventLog,
        source: &Arc<str>,
        subject: Subject,
        last: LastAnnouncement,
    ) -> Result<(), StateError> {
        let identity = self.identity()?;
        let (database, run) = (identity.id, identity.run.saturating_add(1));
        // The number is saved first, so that the database never knows an earlier run than the events.
        let save = Statement::new("UPDATE es_state SET run = $1", [Cell::Integer(run)]);
        self.write(vec![save]).await?;
        self.change_ownership(|own| own.identity.run = run);
        let payload = OpenedPayload { database, run };
        let data = es_event::encode(&Metadata::default(), &payload)
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let precondition = match last.newest {
            Some(newest) => Precondition::SubjectIsOnEventId(subject.clone(), newest),
            None => Precondition::SubjectIsPristine(subject.clone()),
        };
        let candidate = EventCandidate {
            source: Arc::clone(source),
            subject,
            event_type: OPENED,
            data,
            trace: None,
        };
        let appended = store.append(vec![candidate], vec![precondition]).await;
        appended.map_err(|error| match error {
            AppendError::Store(error) => error,
            AppendError::Unknown { address, reason } => StoreError::Unavailable { address, reason },
            AppendError::Conflict(_) => StoreError::Unavailable {
                address: "the event store".into(),
                reason: "another state database was named at the same time".into(),
            },
            error => StoreError::Refused(error.to_string()),
        })?;
        self.change_ownership(|own| own.is_announced = true);
        Ok(())
    }

    /// Lets a subscriber begin after an event, or before the first one, because an operator gives up the tasks that it had.
    /// If the events name another database or a later run of this one, they name this one from now on, and the tasks of the
    /// other subscribers count as lost until each of them begins anew.
    ///
    /// # Errors
    /// The database or the event store does not answer, or this process does not own the database.
    pub async fn begin_anew(
        &self,
        (store, source): (&dyn EventLog, &Arc<str>),
        subscriber: &str,
        position: Option<SubscriberCheckpoint>,
        others: &[&str],
    ) -> Result<(), StateError> {
        let _announcing = self.instance.announcing.lock().await;
        let subject = subject()?;
        let last = LastAnnouncement::read(store, &subject).await?;
        let identity = self.identity()?;
        let mut statements = beginning(subscriber, position, &[]);
        if last.check(&identity).is_ok() {
            return self.write(statements).await;
        }
        let lost = others.iter().filter(|other| **other != subscriber);
        let lost = lost.map(|other| vec![Cell::from(*other)]).collect();
        statements.push(Statement::for_rows(MARK_LOST, lost));
        self.write(statements).await?;
        let announced = last.payload.as_ref().map_or(0, |announced| announced.run);
        let run = identity.run.max(announced);
        self.change_ownership(|own| own.identity.run = run);
        self.append_announcement(store, source, subject, last).await
    }
}

/// Checks that the event at a position is the one that a subscriber has seen there.
///
/// ```
/// use es_event::{EventId, Hash};
/// use es_store::memory::MemoryStore;
/// use es_subscribe::{SubscriberCheckpoint, state::check_position};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let seen = SubscriberCheckpoint { event: EventId::FIRST, hash: Hash::ZERO };
/// let lost = check_position(&MemoryStore::new(), seen).await;
/// assert!(lost.is_err_and(|error| error.needs_rebuild()));
/// # }
/// ```
///
/// # Errors
/// It is missing or another one, or the store does not answer.
pub async fn check_position(
    store: &dyn EventLog,
    checkpoint: SubscriberCheckpoint,
) -> Result<(), StateError> {
    if checkpoint.is_in_event_store(store).await? {
        Ok(())
    } else {
        Err(StateError::OtherEvents(checkpoint.event))
    }
}

fn subject() -> Result<Subject, StateError> {
    let subject = Subject::parse_recorded(SUBJECT);
    Ok(subject.map_err(|error| StoreError::Refused(error.to_string()))?)
}
