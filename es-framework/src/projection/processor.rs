//! Follows the event store and keeps the read models up to date.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::future::join_all;

use super::{
    Database, DatabaseError, Positions, ReadModels,
    follower::{Followed, Follower, Pause},
};
use crate::{
    event::{EventId, Upcasters},
    store::EventStore,
};

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
    /// again from the checkpoint.
    pub async fn run(self) {
        let mut pause = Pause::default();
        let followers = loop {
            match self.followers().await {
                Ok(followers) => break followers,
                Err(error) => {
                    tracing::warn!(%error, "the read models cannot be followed yet");
                    pause.wait().await;
                }
            }
        };
        join_all(followers.into_iter().map(Follower::run)).await;
    }

    /// Read models that stand at one event are followed together, so that the events are read once
    /// for all of them; one that is behind catches up by itself and holds no other back.
    async fn followers(&self) -> Result<Vec<Follower>, DatabaseError> {
        let mut groups: BTreeMap<Option<EventId>, Vec<Followed>> = BTreeMap::new();
        for table in self.models.iter() {
            let position = self.database.checkpoint(table.model.name).await?;
            let Some(progress) = self.positions.get(table.model.name) else {
                continue;
            };
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
}
