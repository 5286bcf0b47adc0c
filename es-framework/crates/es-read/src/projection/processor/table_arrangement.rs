//! The arrangement of tables and shadow tables into pipelines.

use std::{collections::BTreeMap, sync::Arc};

use futures_util::StreamExt as _;

use super::{
    super::{
        Table, database::TableCheckpoint, erasures::KnownErasures, pipeline::ProjectionPipeline,
        pipeline_read_model::PipelineReadModel,
    },
    CATCH_UP_BATCH, Processor, ProcessorStartError,
};
use es_event::{EventId, Subject};
use es_store::{Bound, EventStream, ReadOptions};
use es_subscribe::SubscriberProgress;

impl Processor {
    /// Returns one pipeline for all tables with the same position, so that their events are read once. A
    /// table with another position catches up in a pipeline of its own.
    pub(super) async fn prepare_pipelines(
        &mut self,
    ) -> Result<Vec<ProjectionPipeline>, ProcessorStartError> {
        if self.models.personal_tables().next().is_some() {
            self.erasures = KnownErasures::load(&*self.store).await?;
            self.models.require_erasure(self.erasures.last());
        }
        let mut groups: BTreeMap<Option<EventId>, Vec<PipelineReadModel>> = BTreeMap::new();
        for table in self.models.iter() {
            let Some(progress) = self.positions.find_progress(table.model.name) else {
                continue;
            };
            let serves = self.check_serving_table(table, progress).await?;
            let is_built = serves && progress.erasure() == table.erasure;
            let shadow = self
                .arrange_shadow_table(table, progress, !is_built)
                .await?;
            let serving = serves.then(|| (table.clone(), progress.clone()));
            for (table, progress) in serving.into_iter().chain(shadow) {
                if progress.state().is_stopped_at_event() {
                    continue;
                }
                let skipped = self.load_skipped_events(&table).await?;
                let running = PipelineReadModel::new(table, progress, skipped);
                let position = running.progress.position();
                groups.entry(position).or_default().push(running);
            }
        }
        let pipelines = groups.into_values().map(|models| self.pipeline(models));
        Ok(pipelines.collect())
    }

    fn pipeline(&self, models: Vec<PipelineReadModel>) -> ProjectionPipeline {
        ProjectionPipeline {
            store: Arc::clone(&self.store),
            database: self.database.clone(),
            upcasters: self.upcasters.clone(),
            models,
            erasures: self.erasures,
        }
    }

    /// Publishes the position of a table. Returns false if the table has another definition, so that a
    /// shadow table has to replace it. Until then, the table answers queries if they can read it.
    async fn check_serving_table(
        &self,
        table: &Table,
        progress: &SubscriberProgress,
    ) -> Result<bool, ProcessorStartError> {
        let name = table.model.name;
        let stored = self.database.load_checkpoint(table).await?;
        let checkpoint = stored.as_ref().and_then(|stored| stored.checkpoint);
        let is_ours = match checkpoint {
            Some(checkpoint) => checkpoint.is_in_event_store(&*self.store).await?,
            None => true,
        };
        if !is_ours {
            tracing::warn!(
                "the read model {name} contains events that the event store lacks: it is rebuilt"
            );
            progress.record_rebuild_start();
            self.database.drop_table(&table.shadow_table()).await?;
            progress.set_shadow_progress(None);
        }
        let is_readable = |kept: &TableCheckpoint| kept.is_readable(table);
        let is_whole = !stored.as_ref().is_some_and(is_readable)
            || self.database.is_table_whole(table).await?;
        if !is_whole {
            tracing::warn!("the table of the read model {name} is made again");
            progress.record_rebuild_start();
        }
        let is_valid = is_ours && is_whole;
        let kept = stored.filter(|_| is_valid);
        let position = checkpoint.filter(|_| is_valid).map(|last| last.event);
        let is_current = kept.as_ref().is_some_and(|kept| kept.is_current(table));
        let erasure = kept.as_ref().and_then(TableCheckpoint::erasure);
        let is_usable = kept.is_some_and(|kept| kept.is_readable(table));
        if position.is_some() && !is_current {
            if progress.shadow_progress().is_none() {
                tracing::info!(
                    still_answers = is_usable,
                    "the read model {name} is declared differently: it is rebuilt in a shadow table"
                );
            }
            let held = self.database.load_held_keys(table).await?;
            progress.record_held_keys(held);
            progress.record_erasure(erasure);
            progress.record_position(position.filter(|_| is_usable));
            if is_usable {
                progress.record_catch_up();
            }
            return Ok(false);
        }
        let is_empty = position.is_none();
        if !is_current || is_empty && erasure != table.erasure {
            self.database.reset_table(table).await?;
        }
        progress.record_erasure(if is_empty { table.erasure } else { erasure });
        if position.is_none() && progress.position().is_some() {
            // The table was lost, and an empty one was created.
            progress.record_rebuild_start();
        }
        progress.record_held_keys(self.database.load_held_keys(table).await?);
        progress.record_position(position);
        Ok(true)
    }

    /// Returns the shadow table of a table, if it is being built or `is_needed`.
    async fn arrange_shadow_table(
        &self,
        table: &Table,
        progress: &SubscriberProgress,
        is_needed: bool,
    ) -> Result<Option<(Table, SubscriberProgress)>, ProcessorStartError> {
        let shadow = table.shadow_table();
        let kept = self.database.load_checkpoint(&shadow).await?;
        let goes_on = match &kept {
            Some(kept)
                if kept.is_current(table) && self.database.is_table_whole(&shadow).await? =>
            {
                match kept.checkpoint {
                    Some(checkpoint) => checkpoint.is_in_event_store(&*self.store).await?,
                    None => true,
                }
            }
            _ => false,
        };
        if !goes_on && !is_needed {
            if kept.is_some() {
                self.database.drop_table(&shadow).await?;
            }
            progress.set_shadow_progress(None);
            return Ok(None);
        }
        if !goes_on {
            self.database.reset_table(&shadow).await?;
        }
        let position = kept.filter(|_| goes_on).and_then(|kept| kept.checkpoint);
        let building = progress
            .shadow_progress()
            .unwrap_or_else(|| SubscriberProgress::new(progress.kind(), progress.name()));
        building.record_held_keys(self.database.load_held_keys(&shadow).await?);
        if !building.is_stopped() {
            building.record_position(position.map(|checkpoint| checkpoint.event));
        }
        progress.set_shadow_progress(Some(building.clone()));
        Ok(Some((shadow, building)))
    }

    /// Reads all events between two bounds.
    fn read(&self, lower_bound: Option<Bound>, upper_bound: Option<Bound>) -> EventStream {
        let options = ReadOptions {
            lower_bound,
            upper_bound,
            ..ReadOptions::recursive()
        };
        self.store.read(Subject::root(), options)
    }

    /// Replaces tables by their shadow tables that are up to date.
    pub(super) async fn swap_rebuilt_tables(&self) -> Result<(), ProcessorStartError> {
        for table in self.models.iter() {
            let Some(progress) = self.positions.find_progress(table.model.name) else {
                continue;
            };
            let built = progress
                .shadow_progress()
                .filter(SubscriberProgress::has_caught_up);
            let Some(built) = built.filter(|built| !built.is_stopped()) else {
                continue;
            };
            // A client that has seen an event must not miss it in the new rows.
            let until = progress.position();
            self.catch_up(table.shadow_table(), &built, until).await?;
            if built.is_stopped() {
                continue;
            }
            self.database.swap_tables(table).await?;
            let position = built.position();
            progress.record_swap(position, built.held_keys());
            tracing::info!(
                read_model = table.model.name,
                position = position.map(EventId::get),
                "queries are answered from the rows that were built anew"
            );
        }
        Ok(())
    }

    async fn catch_up(
        &self,
        table: Table,
        built: &SubscriberProgress,
        until: Option<EventId>,
    ) -> Result<(), ProcessorStartError> {
        if built.position() >= until {
            return Ok(());
        }
        let lower = built.position().and_then(EventId::next);
        let events = self.read(lower.map(Bound::Inclusive), until.map(Bound::Inclusive));
        let skipped = self.load_skipped_events(&table).await?;
        let built = PipelineReadModel::new(table, built.clone(), skipped);
        let pipeline = self.pipeline(vec![built]);
        let mut batches = events.ready_chunks(CATCH_UP_BATCH);
        while let Some(batch) = batches.next().await {
            let events = batch.into_iter().collect::<Result<Vec<_>, _>>()?;
            pipeline.apply_events(&events).await?;
        }
        Ok(())
    }
}
