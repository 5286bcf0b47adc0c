//! The way of read models to the last event that was stored when they set out.

use std::time::{Duration, Instant};

use super::{Pace, follower::Followed};
use crate::{event::EventId, telemetry::milliseconds_since};

/// How often a rebuild says in the log how far it is.
const REPORT: Duration = Duration::from_secs(5);

/// The way to the last event that was stored when it began.
pub(super) struct Rebuild {
    newest: Option<EventId>,
    is_over: bool,
    begin: Instant,
    from: Option<EventId>,
    reported: Instant,
}

impl Rebuild {
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

    /// The last event of its way.
    pub(super) const fn newest(&self) -> Option<EventId> {
        self.newest
    }

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Notes how far read models that go together have come.
    pub(super) fn note<'a>(
        &mut self,
        position: Option<EventId>,
        models: impl Iterator<Item = &'a Followed>,
    ) {
        if self.is_over {
            return;
        }
        self.is_over = position >= self.newest;
        let pace = self.pace(position);
        let is_time = self.reported.elapsed() >= REPORT;
        for model in models.filter(|model| !model.progress.is_rebuilt()) {
            let read_model = model.table.model.name;
            if self.is_over {
                model.progress.rebuilt();
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
            model.progress.paced(pace);
            if is_time {
                let Pace {
                    events_per_second,
                    events_left,
                    seconds_left,
                } = pace;
                tracing::info!(
                    read_model,
                    beside = model.table.is_beside,
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

    /// How many events are left, how fast they are taken, and how long the rest will take.
    fn pace(&self, position: Option<EventId>) -> Pace {
        let events_left =
            EventId::count_to(self.newest).saturating_sub(EventId::count_to(position));
        let done = EventId::count_to(position).saturating_sub(EventId::count_to(self.from));
        let milliseconds = milliseconds_since(self.begin);
        let events_per_second = done
            .saturating_mul(1000)
            .checked_div(milliseconds)
            .unwrap_or(0);
        Pace {
            events_per_second,
            events_left,
            seconds_left: events_left.checked_div(events_per_second),
        }
    }
}
