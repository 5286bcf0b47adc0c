//! A subscription to the simulated store. It delivers events late, and ends with an error when the store
//! crashes or the connection breaks.

use std::{collections::VecDeque, pin::pin};

use super::simulated_store::{StoreConnection, unavailable_error};
use crate::{
    event::{RecordedEvent, Subject},
    store::{Bound, ObserveOptions, ReadOptions, StoreError},
};

/// The state of one subscription.
#[derive(Debug)]
pub(super) struct SimulatedSubscription {
    connection: StoreConnection,
    subject: Subject,
    options: ReadOptions,
    /// The number of crashes before the subscription. It is missing before the request has arrived.
    crashes: Option<u64>,
    /// The events on their way.
    events: VecDeque<Result<RecordedEvent, StoreError>>,
}

impl SimulatedSubscription {
    pub(super) fn new(
        connection: StoreConnection,
        subject: Subject,
        options: ObserveOptions,
    ) -> Self {
        let ObserveOptions {
            recursive,
            lower_bound,
            from_latest_event,
        } = options;
        Self {
            connection,
            subject,
            options: ReadOptions {
                recursive,
                lower_bound,
                from_latest_event,
                ..ReadOptions::default()
            },
            crashes: None,
            events: VecDeque::new(),
        }
    }

    /// Waits for the next event.
    pub(super) async fn next_event(&mut self) -> Result<RecordedEvent, StoreError> {
        if self.crashes.is_none() {
            self.connection.begin_read().await?;
            self.crashes = Some(self.connection.server.crash_count());
        }
        let server = self.connection.server.clone();
        let environment = &server.environment;
        loop {
            let mut changed = pin!(server.has_changed.notified());
            // From here on, no change is missed.
            changed.as_mut().enable();
            if self.crashes != Some(server.crash_count()) {
                return Err(unavailable_error("the store crashed"));
            }
            if let Some(event) = self.events.pop_front() {
                if environment.random_bool(environment.faults().failed_subscription) {
                    return Err(unavailable_error("the subscription broke"));
                }
                let event = event?;
                self.options.lower_bound = Some(Bound::Exclusive(event.id));
                self.options.from_latest_event = None;
                if environment.random_bool(200) {
                    environment.simulate_network_delay().await;
                }
                return Ok(event);
            }
            let (subject, options) = (self.subject.clone(), self.options.clone());
            self.events = self.connection.read_log(subject, options).await.into();
            if self.events.is_empty() {
                changed.await;
            }
        }
    }
}
