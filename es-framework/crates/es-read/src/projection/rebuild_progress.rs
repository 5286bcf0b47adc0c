//! The progress of read models towards the last event that was stored at their start.

use std::time::{Duration, Instant};

use super::{RebuildPace, pipeline_read_model::PipelineReadModel};
use es_event::EventId;
use es_runtime::telemetry::milliseconds_since;

/// The interval between two lines of the log about a rebuild.
const REPORT: Duration = Duration::from_secs(5);

/// The progress towards the event that was the store's newest when the pipeline subscribed.
pub(super) struct RebuildProgress {
    newest: Option<EventId>,
    is_over: bool,
    begin: Instant,
    from: Option<EventId>,
    reported: Instant,
}

impl RebuildProgress {
    pub(super) fn new(newest: Option<EventId>, from: Option<EventId>) -> Self {
        let now = Instant::now();
        Self {
            newest,
            is_over: false,
            begin: now,
            from,
            reported: now,
        }
    }

    /// Returns the event that was the store's newest when the pipeline subscribed.
    pub(super) const fn newest(&self) -> Option<EventId> {
        self.newest
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Publishes the progress of read models that have applied the events up to a position.
    pub(super) fn publish<'a>(
        &mut self,
        position: Option<EventId>,
        models: impl Iterator<Item = &'a PipelineReadModel>,
    ) {
        if self.is_over {
            return;
        }
        self.is_over = position >= self.newest;
        let pace = self.pace(position);
        let is_time = self.reported.elapsed() >= REPORT;
        for model in models.filter(|model| !model.progress.has_caught_up()) {
            let read_model = model.table.model.name;
            if self.is_over {
                model.progress.record_catch_up();
                let events =
                    EventId::count_to(position).saturating_sub(EventId::count_to(self.from));
                let milliseconds = milliseconds_since(self.begin);
                tracing::info!(
                    events,
                    milliseconds,
                    "the read model {read_model} is up to date"
                );
                continue;
            }
            // The id of a newest event that cannot be read is unknown, and with it the rest of the time.
            if self.newest < EventId::new(EventId::MAX) {
                model.progress.record_rebuild_pace(pace);
            }
            if is_time {
                let RebuildPace {
                    events_per_second,
                    events_left,
                    seconds_left,
                } = pace;
                tracing::info!(
                    read_model,
                    beside = model.table.is_shadow,
                    events_left,
                    events_per_second,
                    seconds_left,
                    "the read model is being rebuilt"
                );
            }
        }
        if is_time {
            self.reported = Instant::now();
        }
    }

    /// Returns the speed of the rebuild and an estimate of the time that is left.
    fn pace(&self, position: Option<EventId>) -> RebuildPace {
        let events_left =
            EventId::count_to(self.newest).saturating_sub(EventId::count_to(position));
        let done = EventId::count_to(position).saturating_sub(EventId::count_to(self.from));
        let milliseconds = milliseconds_since(self.begin);
        let events_per_second = done
            .saturating_mul(1000)
            .checked_div(milliseconds)
            .unwrap_or(0);
        RebuildPace {
            events_per_second,
            events_left,
            seconds_left: events_left.checked_div(events_per_second),
        }
    }
}
