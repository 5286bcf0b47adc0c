//! The catch-up of a subscriber with the last event that was stored when it subscribed.

use std::time::{Duration, Instant};

use super::{RebuildPace, SubscriberProgress};
use es_event::EventId;

/// The interval between two lines of the log about a catch-up.
const REPORT: Duration = Duration::from_secs(5);

/// The progress towards the event that was the store's newest at the subscription.
pub(super) struct CatchUp {
    newest: Option<EventId>,
    is_over: bool,
    begin: Instant,
    from: Option<EventId>,
    reported: Instant,
}

impl CatchUp {
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

    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Publishes the progress of components that have handled the events up to a position.
    pub(super) fn publish(&mut self, position: Option<EventId>, running: &[SubscriberProgress]) {
        if self.is_over {
            return;
        }
        self.is_over = position >= self.newest;
        let pace = self.pace(position);
        let is_time = self.reported.elapsed() >= REPORT;
        for progress in running.iter().filter(|one| !one.has_caught_up()) {
            let (kind, name) = (progress.kind(), progress.name());
            if self.is_over {
                progress.record_catch_up();
                let events =
                    EventId::count_to(position).saturating_sub(EventId::count_to(self.from));
                let milliseconds = self.milliseconds();
                tracing::info!(events, milliseconds, "the {kind} {name} is up to date");
                continue;
            }
            // The id of a newest event that cannot be read is unknown, and with it the rest of the time.
            if self.newest < EventId::new(EventId::MAX) {
                progress.record_rebuild_pace(pace);
            }
            if is_time {
                let RebuildPace {
                    events_per_second,
                    events_left,
                    seconds_left,
                } = pace;
                tracing::info!(
                    name,
                    events_left,
                    events_per_second,
                    seconds_left,
                    "the {kind} catches up with the event store"
                );
            }
        }
        if is_time {
            self.reported = Instant::now();
        }
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Returns the speed of the catch-up and an estimate of the time that is left.
    fn pace(&self, position: Option<EventId>) -> RebuildPace {
        let events_left =
            EventId::count_to(self.newest).saturating_sub(EventId::count_to(position));
        let done = EventId::count_to(position).saturating_sub(EventId::count_to(self.from));
        let milliseconds = self.milliseconds();
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
