//! Follows the event store and keeps the read models up to date.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::{StreamExt as _, future::join_all};

use super::{
    Database, DatabaseError, Positions, ReadModels, Table,
    database::Checkpoint,
    follower::{Ended, Followed, Follower, Pause},
};
use crate::{
    event::{EventId, Subject, Upcasters},
    store::{Bound, EventStore, ReadOptions, StoreError, latest_event},
};

/// How often a process that stands by looks how far the other one is.
const STAND_BY: Duration = Duration::from_millis(50);

#[derive(Debug, thiserror::Error)]
enum BeginError {
    #[error(transparent)]
    Database(#[from] DatabaseError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Follows the event store and keeps the read models up to date, for as long as it runs.
#[derive(Debug)]
pub struct Processor {
    store: Arc<dyn EventStore>,
    database: Database,
    models: ReadModels,
    upcasters: Upcasters,
    positions: Positions,
}

impl Processor {
    /// A processor that has not begun.
    #[must_use]
    pub fn new(store: Arc<dyn EventStore>, database: Database, models: ReadModels) -> Self {
        let positions = Positions::of(models.iter().map(|table| table.model.name));
        Self {
            store,
            database,
            models,
            upcasters: Upcasters::default(),
            positions,
        }
    }

    /// Reads stored events through these upcasters.
    #[must_use]
    pub fn with_upcasters(self, upcasters: Upcasters) -> Self {
        Self { upcasters, ..self }
    }

    /// How far it has come.
    #[must_use]
    pub fn positions(&self) -> Positions {
        self.positions.clone()
    }

    /// Follows the event store until the returned future is dropped. After a failure it starts
    /// again from the checkpoint. While another process writes to the same database, it stands by
    /// and takes over when that one ends.
    pub async fn run(self) {
        let mut pause = Pause::default();
        loop {
            match self.begin().await {
                Ok(followers) => {
                    let ended = join_all(followers.into_iter().map(Follower::run)).await;
                    if !ended.contains(&Ended::LeaseLost) {
                        return;
                    }
                    pause = Pause::default();
                }
                Err(error) => {
                    tracing::warn!(%error, "the read models cannot be followed yet");
                    pause.wait().await;
                }
            }
        }
    }

    async fn begin(&self) -> Result<Vec<Follower>, BeginError> {
        if !self.database.take_lease().await? {
            tracing::info!("another process keeps the read models up to date; this one stands by");
            self.stand_by().await?;
            tracing::info!("this process keeps the read models up to date from now on");
        }
        self.followers().await
    }

    /// Watches how far the other process comes, until it ends.
    async fn stand_by(&self) -> Result<(), BeginError> {
        let newest = latest_event(&*self.store, Subject::root(), true).await?;
        let newest = newest.map(|event| event.id);
        loop {
            for table in self.models.iter() {
                let checkpoint = self.database.checkpoint(table).await?;
                let position = checkpoint.map(|checkpoint| checkpoint.id);
                if let Some(progress) = self.positions.get(table.model.name) {
                    progress.reached(position);
                    if position >= newest {
                        progress.rebuilt();
                    }
                }
            }
            if self.database.take_lease().await? {
                return Ok(());
            }
            tokio::time::sleep(STAND_BY).await;
        }
    }

    /// Read models that stand at one event are followed together, so that the events are read once
    /// for all of them; one that is behind catches up by itself and holds no other back.
    async fn followers(&self) -> Result<Vec<Follower>, BeginError> {
        let mut groups: BTreeMap<Option<EventId>, Vec<Followed>> = BTreeMap::new();
        for table in self.models.iter() {
            let position = self.checkpoint(table).await?;
            let Some(progress) = self.positions.get(table.model.name) else {
                continue;
            };
            if progress.is_stopped() {
                continue;
            }
            progress.reached(position);
            let followed = Followed {
                table: table.clone(),
                progress: progress.clone(),
            };
            groups.entry(position).or_default().push(followed);
        }
        let follower = |models| Follower {
            store: Arc::clone(&self.store),
            database: self.database.clone(),
            upcasters: self.upcasters.clone(),
            models,
        };
        Ok(groups.into_values().map(follower).collect())
    }

    /// Where a read model goes on. Rows that follow from the events of another store are of no use.
    async fn checkpoint(&self, table: &Table) -> Result<Option<EventId>, BeginError> {
        let Some(checkpoint) = self.database.checkpoint(table).await? else {
            return Ok(None);
        };
        let only = Some(Bound::Inclusive(checkpoint.id));
        let options = ReadOptions {
            lower_bound: only,
            upper_bound: only,
            ..ReadOptions::recursive()
        };
        let stored = self.store.read(Subject::root(), options).next().await;
        let stored = stored.transpose()?;
        if stored.is_some_and(|event| Checkpoint::at(&event) == checkpoint) {
            return Ok(Some(checkpoint.id));
        }
        let name = table.model.name;
        tracing::warn!("the rows of {name} follow from another event store: they are made anew");
        self.database.reset(table).await?;
        Ok(None)
    }
}
