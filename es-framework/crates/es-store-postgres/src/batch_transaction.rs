//! One batch of appends: one transaction, repeated until its outcome is known.

use std::{mem, sync::Arc};

use sqlx::PgConnection;

use super::{
    database_error::DatabaseError, event_insertion, latest_lookup::StoredLatestEvents, log_head,
    seen_event::SeenEvent, store_state::StoreState,
};
use es_event::{EventCandidate, EventId, EventType, RecordedEvent};
use es_sql::postgres::Remedy;
use es_store::write::{
    AppendOutcome, BatchLimits, ChainHead, PreparedBatch, QueuedAppend, WriteQueue,
};

/// A batch, and how far it has come.
#[derive(Debug)]
pub(super) struct BatchTransaction {
    pub(super) appends: Vec<QueuedAppend>,
    /// The queue whose appends join the batch when it has locked the end of the log.
    queue: Option<Arc<WriteQueue>>,
    progress: BatchProgress,
}

/// The progress of a batch.
#[derive(Debug)]
enum BatchProgress {
    /// Nothing is sent, or what was sent is rolled back.
    Open,
    /// The events are numbered and chained, but the commit is not sent.
    Prepared(PreparedEvents),
    /// The commit was sent, and it is unknown whether it arrived.
    Sent(PreparedEvents),
}

/// The events of a batch, numbered and chained.
#[derive(Debug)]
pub(super) struct PreparedEvents {
    pub(super) outcomes: Vec<AppendOutcome>,
    pub(super) head: ChainHead,
    pub(super) new_types: Vec<(EventType, EventId)>,
}

impl PreparedEvents {
    pub(super) fn events(&self) -> impl DoubleEndedIterator<Item = &RecordedEvent> + Clone {
        self.outcomes.iter().flatten().flatten()
    }
}

impl BatchTransaction {
    /// Creates a batch that the appends in the queue join when it has locked the end of the log.
    pub(super) const fn with_queue(appends: Vec<QueuedAppend>, queue: Arc<WriteQueue>) -> Self {
        Self {
            appends,
            queue: Some(queue),
            progress: BatchProgress::Open,
        }
    }

    /// Creates a batch that stays alone.
    pub(super) fn of_one(append: QueuedAppend) -> Self {
        Self {
            appends: vec![append],
            queue: None,
            progress: BatchProgress::Open,
        }
    }

    /// Returns true if the events may be stored although no attempt has succeeded.
    pub(super) const fn may_be_stored(&self) -> bool {
        matches!(self.progress, BatchProgress::Sent(_))
    }

    /// Returns the appends as they were before the first attempt.
    pub(super) fn into_appends(mut self) -> Vec<QueuedAppend> {
        self.reopen();
        self.appends
    }

    /// Makes one attempt to write the batch. It may be cancelled, and the next attempt continues with
    /// what is known by then.
    pub(super) async fn attempt(
        &mut self,
        connection: &mut PgConnection,
        state: &StoreState,
    ) -> Result<PreparedEvents, DatabaseError> {
        if self.may_be_stored() {
            if self.is_stored(connection).await? {
                return self.finish();
            }
            tracing::info!(
                "a batch whose commit was interrupted is not stored and is written again"
            );
        }
        self.reopen();
        self.prepare(connection, state).await?;
        let BatchProgress::Prepared(prepared) =
            mem::replace(&mut self.progress, BatchProgress::Open)
        else {
            return Err(DatabaseError::Bug("the batch was not prepared"));
        };
        if prepared.events().next().is_none() {
            log_head::roll_back(connection).await?;
            return Ok(prepared);
        }
        self.progress = BatchProgress::Sent(prepared);
        match log_head::commit(connection).await {
            Ok(()) => self.finish(),
            // The database says that it has rolled the transaction back.
            Err(error) if error.remedy() == Remedy::Repeat => {
                self.reopen();
                Err(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Locks the end of the log, decides every append, and inserts the events.
    async fn prepare(
        &mut self,
        connection: &mut PgConnection,
        state: &StoreState,
    ) -> Result<(), DatabaseError> {
        let head = log_head::begin_and_lock(connection).await?;
        head.check_open()?;
        self.take_waiting_appends(state.limits.batch);
        state.refresh_catalogue(connection, head.schemas).await?;
        let stored = StoredLatestEvents::read_latest(connection, &self.appends, &head).await?;
        let catalogue = state.catalogue();
        let version = state.address.hash_version;
        let appends = &mut self.appends;
        let Ok(batch) = PreparedBatch::prepare(head.chain, version, &catalogue, &stored, appends);
        let prepared = PreparedEvents {
            outcomes: batch.outcomes,
            head: batch.head,
            new_types: batch.new_types,
        };
        // This function may end at each later statement, so `self.progress` gets the events first.
        self.progress = BatchProgress::Prepared(prepared);
        if let BatchProgress::Prepared(prepared) = &self.progress
            && prepared.events().next().is_some()
        {
            let (events, head) = (prepared.events(), &prepared.head);
            event_insertion::insert_events(connection, events, head).await?;
        }
        Ok(())
    }

    /// Adds the appends that have arrived while another instance held the end of the log.
    fn take_waiting_appends(&mut self, limits: BatchLimits) {
        let Some(queue) = &self.queue else {
            return;
        };
        let mut left = limits;
        if self.appends.iter().all(|append| left.subtract(append)) {
            let waiting = queue.take_appends(left).into_iter();
            self.appends
                .extend(waiting.filter(|append| !append.answer.is_closed()));
        }
    }

    /// Finds out whether an interrupted commit has arrived. The lock of the log's end waits for the
    /// end of the earlier transaction.
    async fn is_stored(&self, connection: &mut PgConnection) -> Result<bool, DatabaseError> {
        let BatchProgress::Sent(prepared) = &self.progress else {
            return Ok(false);
        };
        let Some(last) = prepared.events().next_back().map(SeenEvent::of) else {
            return Ok(false);
        };
        log_head::begin_and_lock(connection).await?;
        if log_head::holds_event(connection, last).await? {
            // The events are visible but maybe not on a standby yet. This commit waits for that.
            log_head::commit_unchanged_head(connection).await?;
            return Ok(true);
        }
        log_head::roll_back(connection).await?;
        Ok(false)
    }

    fn finish(&mut self) -> Result<PreparedEvents, DatabaseError> {
        match mem::replace(&mut self.progress, BatchProgress::Open) {
            BatchProgress::Sent(prepared) => Ok(prepared),
            BatchProgress::Open | BatchProgress::Prepared(_) => {
                Err(DatabaseError::Bug("the batch was not sent"))
            }
        }
    }

    /// Returns the candidates to the appends, because each attempt decides again.
    fn reopen(&mut self) {
        let progress = mem::replace(&mut self.progress, BatchProgress::Open);
        let (BatchProgress::Prepared(prepared) | BatchProgress::Sent(prepared)) = progress else {
            return;
        };
        for (append, outcome) in self.appends.iter_mut().zip(prepared.outcomes) {
            if let Ok(events) = outcome {
                append.candidates = events.into_iter().map(candidate).collect();
            }
        }
    }
}

fn candidate(event: RecordedEvent) -> EventCandidate {
    EventCandidate {
        source: event.source,
        subject: event.subject,
        event_type: event.event_type,
        data: event.data,
        trace: event.trace,
    }
}
