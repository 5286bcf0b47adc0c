//! The defects of the simulated store and database, which prove that the checks find them. The framework on such a
//! store behaves as a framework with the defect would, without a line of production code for it.

use std::{path::Path, time::Duration};

use futures_util::StreamExt as _;
use jiff::Timestamp;
use rusqlite::Connection;

use super::{simulated_store::StoreConnection, wallet_reactions};
use crate::{
    event::{EventCandidate, EventId, RecordedEvent, Subject},
    store::{
        EventLog as _, Order, Precondition, ReadOptions, StoreError, event_with_id,
        memory::MemoryStore,
    },
    subscribe::state::{StateDatabase, StateError, SubscriberPosition, TaskChange},
};

/// A defect of a run. Each one breaks an invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Defect {
    /// An append of a command with an unknown outcome counts as recorded.
    TrustUnknownAppends,
    /// The store finds no idempotency record, and lets another one be written.
    AllowSecondRecord,
    /// The store checks only the preconditions on the first subject of an append.
    ForgetOtherSubjects,
    /// A restart finds rows whose checkpoint is that of earlier rows.
    LoseCheckpoints,
    /// All processes own the state database at the same time, and each of them has its own idempotency records of the
    /// commands that its reactions send.
    SendOncePerProcess,
    /// A crash keeps the positions of reactions and loses their tasks.
    LoseTasks,
    /// A crash finishes the calls that had begun.
    FinishBegunCalls,
    /// A reaction learns of no newer events before it meets a deadline.
    MeetBeforeCancelling,
    /// All processes own the state database at the same time.
    TwoOwners,
    /// No instance reads the announcement of an erasure.
    MissErasures,
    /// The store does not check the preconditions of claims.
    IgnoreClaims,
    /// The store loses the claims of an append, and records its other events.
    LoseClaims,
    /// Reactions read events that are not flushed, as if they were recorded.
    ReadUnflushed,
    /// The key store leaves the keys of erased persons on its disk.
    KeepErasedKeys,
}

fn is_of_framework(subject: &Subject) -> bool {
    subject.as_str().starts_with("/es-framework/")
}

fn is_claim(subject: &Subject) -> bool {
    subject.as_str().starts_with("/es-framework/unique/")
}

fn is_idempotency_record(subject: &Subject) -> bool {
    subject
        .as_str()
        .starts_with("/es-framework/idempotency-keys/")
}

impl StoreConnection {
    pub(super) fn has(&self, defect: Defect) -> bool {
        self.server.environment.defect == Some(defect)
    }

    /// Returns the subject under which the store keeps the events of a subject.
    pub(super) fn stored_subject(&self, subject: Subject) -> Subject {
        match self.reactions_of {
            Some(process)
                if self.has(Defect::SendOncePerProcess) && is_idempotency_record(&subject) =>
            {
                format!("{subject}/{process}").parse().unwrap_or(subject)
            }
            _ => subject,
        }
    }

    /// Returns whether the store records an event of an append.
    pub(super) fn is_recorded(&self, candidate: &EventCandidate) -> bool {
        !(self.has(Defect::LoseClaims) && is_claim(&candidate.subject))
    }

    /// Returns the preconditions that the store checks.
    pub(super) fn checked_preconditions(
        &self,
        candidates: &[EventCandidate],
        mut preconditions: Vec<Precondition>,
    ) -> Vec<Precondition> {
        let own = candidates.first().map(|first| &first.subject);
        preconditions.retain(|one| {
            let subject = one.subject();
            match self.server.environment.defect {
                Some(Defect::AllowSecondRecord) => !subject.is_some_and(is_idempotency_record),
                Some(Defect::IgnoreClaims) => !subject.is_some_and(is_claim),
                Some(Defect::ForgetOtherSubjects) => {
                    subject == own || subject.is_some_and(is_of_framework)
                }
                _ => true,
            }
        });
        for one in &mut preconditions {
            if let Precondition::SubjectIsPristine(subject) = one {
                *subject = self.stored_subject(subject.clone());
            }
        }
        preconditions
    }

    /// Returns true if a read finds nothing.
    pub(super) fn hides_events(&self, subject: &Subject, options: &ReadOptions) -> bool {
        let is_newest_first = options.order == Order::Antichronological;
        match self.server.environment.defect {
            Some(Defect::AllowSecondRecord) => is_idempotency_record(subject),
            Some(Defect::MeetBeforeCancelling) => {
                let is_of_reactions = self.reactions_of.is_some();
                is_of_reactions && is_newest_first && *subject == Subject::root()
            }
            _ => false,
        }
    }

    /// Returns the events that a read finds in the log.
    pub(super) async fn read_log(
        &self,
        subject: Subject,
        options: ReadOptions,
    ) -> Vec<Result<RecordedEvent, StoreError>> {
        let hides = |event: &RecordedEvent| self.hides_event(event);
        let events = self.server.log.read(subject.clone(), options.clone());
        let events = events.filter(|event| std::future::ready(!event.as_ref().is_ok_and(hides)));
        let mut events: Vec<_> = events.collect().await;
        if self.has(Defect::ReadUnflushed) && self.reactions_of.is_some() {
            events.extend(self.read_unflushed(subject, options).await);
        }
        events
    }

    /// Returns the events of the appends that wait for the flush, with the ids that they would have.
    async fn read_unflushed(
        &self,
        subject: Subject,
        options: ReadOptions,
    ) -> Vec<Result<RecordedEvent, StoreError>> {
        let unflushed = self.server.unflushed_candidates();
        let durable = self.server.event_count();
        // The events before them are of no interest, but they have ids.
        let before = unflushed.first().into_iter();
        let mut ahead = Vec::new();
        for candidate in before
            .cycle()
            .take(usize::try_from(durable).unwrap_or_default())
        {
            ahead.push(candidate.clone());
        }
        ahead.extend(unflushed);
        let log = MemoryStore::new();
        if log.append(ahead, Vec::new()).await.is_err() {
            return Vec::new();
        }
        let events = log.read(subject, options);
        let is_ahead = |event: &RecordedEvent| event.id.get() >= durable;
        let events = events.filter(|event| std::future::ready(event.as_ref().is_ok_and(is_ahead)));
        events.collect().await
    }

    /// Returns true if the store never delivers the event.
    fn hides_event(&self, event: &RecordedEvent) -> bool {
        let name = event.event_type.as_str();
        self.has(Defect::MissErasures) && name.ends_with(".PersonalDataErasedEvent")
    }
}

/// Changes the tasks of reactions as a crash with the defect does.
pub(super) async fn lose_tasks(
    state: &StateDatabase,
    defect: Option<Defect>,
    now: Timestamp,
) -> Result<(), StateError> {
    if !matches!(defect, Some(Defect::LoseTasks | Defect::FinishBegunCalls)) {
        return Ok(());
    }
    let state = state.another_instance();
    let mut attempts = 0..20;
    while state.try_own().await?.is_none() {
        // The process that was killed is just being dropped.
        if attempts.next().is_none() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for name in wallet_reactions::NAMES {
        let tasks = state
            .due_tasks(name, (now, Duration::from_secs(3600)), Some(now), 100)
            .await?;
        let begun = tasks.iter().filter(|task| task.attempts > 0);
        let finished: Vec<_> = begun
            .map(|task| TaskChange::Finish {
                key: task.key.clone(),
                subject: task.subject.clone(),
            })
            .collect();
        match state.position(name).await? {
            SubscriberPosition::At(position) if defect == Some(Defect::LoseTasks) => {
                state.begin(name, Some(position), &[]).await?;
            }
            _ => state.commit(name, None, &finished).await?,
        }
    }
    state.release().await;
    Ok(())
}

/// Gives the rows in a file the checkpoint of an earlier event. Returns `None` if they have no checkpoint.
pub(super) async fn lose_checkpoint(file: &Path, log: &MemoryStore) -> Option<()> {
    let connection = Connection::open(file).ok()?;
    let of_model = "WHERE model = 'simulated_wallets'";
    let select = format!("SELECT position FROM es_checkpoint {of_model}");
    let position: i64 = connection.query_row(&select, [], |row| row.get(0)).ok()?;
    let earlier = EventId::new(u64::try_from(position / 2).ok()?)?;
    let event = event_with_id(log, earlier).await.ok()??;
    let update = format!("UPDATE es_checkpoint SET position = ?1, hash = ?2 {of_model}");
    let changed = connection.execute(&update, (position / 2, event.hash.to_string()));
    changed.ok().map(drop)
}
