//! Follows the event store and keeps the read models up to date.

use std::{sync::Arc, time::Duration};

use super::{
    Database, DatabaseError, Progress, ReadModels,
    rows::{self, RowError},
    tables,
};
use crate::{
    event::{EventId, RecordedEvent, Subject},
    store::{EventStore, ObserveOptions, StoreError, latest_event},
};
use futures_util::StreamExt as _;

/// How many events are folded into one transaction at the most.
const BATCH: usize = 1_000;
/// How long events gather between two transactions once the rebuild is over. A transaction costs far
/// more than a row: taking each commit of a busy store by itself took a third of the machine.
const GATHER: Duration = Duration::from_millis(15);
/// The pauses after a failure double from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LAST_PAUSE: Duration = Duration::from_secs(5);

/// Follows the event store and keeps the read models up to date, for as long as it runs.
#[derive(Debug)]
pub struct Processor {
    store: Arc<dyn EventStore>,
    database: Database,
    models: ReadModels,
    progress: Progress,
}

#[derive(Debug, thiserror::Error)]
enum ProcessorError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error("the read models cannot take event {id} on {subject}: {reason}")]
    Poison {
        id: EventId,
        subject: Subject,
        reason: String,
    },
    #[error("the event store ended the observation")]
    Ended,
}

impl Processor {
    /// A processor that has not begun.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, database: Database, models: ReadModels) -> Self {
        let progress = Progress::default();
        Self {
            store,
            database,
            models,
            progress,
        }
    }

    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Follows the event store until the returned future is dropped. After a failure it starts
    /// again from the checkpoint.
    pub async fn run(self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let before = self.progress.position();
            let Err(error) = self.follow().await;
            if self.progress.position() > before {
                pause = FIRST_PAUSE;
            }
            tracing::warn!(%error, retry_in = ?pause, "the read models do not follow the event store");
            self.progress.stopped(error.to_string());
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(LAST_PAUSE);
        }
    }

    async fn follow(&self) -> Result<std::convert::Infallible, ProcessorError> {
        self.database.prepare(&self.models).await?;
        let checkpoint = self.database.checkpoint().await?;
        self.progress.reached(checkpoint);
        let newest = self.newest().await?;
        self.note_rebuild(newest);
        let options = ObserveOptions::recursive_after(checkpoint);
        let mut batches = self
            .store
            .observe(Subject::root(), options)
            .ready_chunks(BATCH);
        while let Some(batch) = batches.next().await {
            let mut events = Vec::with_capacity(batch.len());
            let mut failure = None;
            for event in batch {
                match event {
                    Ok(event) => events.push(event),
                    Err(error) => failure = Some(error),
                }
            }
            self.take(&events).await?;
            self.note_rebuild(newest);
            failure.map_or(Ok(()), Err)?;
            // A batch that is half full says that more are waiting.
            if self.progress.is_rebuilt() && events.len() < BATCH / 2 {
                tokio::time::sleep(GATHER).await;
            }
        }
        Err(ProcessorError::Ended)
    }

    /// The last event that is stored now: the rebuild is over once it was taken.
    async fn newest(&self) -> Result<Option<EventId>, StoreError> {
        let newest = latest_event(&*self.store, Subject::root(), true).await?;
        Ok(newest.map(|event| event.id))
    }

    fn note_rebuild(&self, newest: Option<EventId>) {
        if !self.progress.is_rebuilt() && self.progress.position() >= newest {
            self.progress.rebuilt();
            let position = newest.map(EventId::get);
            tracing::info!(position, "the read models are rebuilt");
        }
    }

    /// Takes a batch at once; where that fails, event by event, to name the one at fault.
    async fn take(&self, events: &[RecordedEvent]) -> Result<(), ProcessorError> {
        if self.write(events).await.is_ok() {
            return Ok(());
        }
        for event in events {
            self.write(std::slice::from_ref(event))
                .await
                .map_err(|error| ProcessorError::Poison {
                    id: event.id,
                    subject: event.subject.clone(),
                    reason: error.to_string(),
                })?;
        }
        Ok(())
    }

    /// Writes rows and checkpoint in one transaction.
    async fn write(&self, events: &[RecordedEvent]) -> Result<(), WriteError> {
        let Some(last) = events.last() else {
            return Ok(());
        };
        let mut transaction = self.database.begin().await?;
        for model in self.models.iter() {
            rows::write(model, events, &mut transaction).await?;
        }
        sqlx::query(tables::WRITE_CHECKPOINT)
            .bind(i64::try_from(last.id.get()).unwrap_or(i64::MAX))
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.progress.reached(Some(last.id));
        Ok(())
    }
}

#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Row(#[from] RowError),
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
}
