//! A sink: a receiver of public events, with its filter.

use std::collections::BTreeSet;

use es_event::EventId;

use crate::{CloudEvent, DeliveryError, Transport};

/// A receiver of public events.
#[derive(Debug)]
pub struct Sink {
    /// The name, which is a segment of a subject. A renamed sink begins as at its first start.
    pub name: Box<str>,
    /// The types that it receives. Without them, it receives all.
    pub types: Option<BTreeSet<String>>,
    /// The most deliveries that are on their way at once. Each is of another subject.
    pub max_running: usize,
    /// The way to the receiver.
    pub transport: Box<dyn Transport>,
}

/// The event at which the first start of a sink begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinkStart {
    /// The first event of the store.
    First,
    /// The first event after the start.
    Now,
    /// The event after this one.
    After(EventId),
}

/// A sink that the settings name.
#[derive(Debug)]
pub struct ConfiguredSink {
    /// The sink.
    pub sink: Sink,
    /// The event at which its first start begins.
    pub start: SinkStart,
}

impl Sink {
    /// Returns true if the sink receives events of this type.
    #[must_use]
    pub fn receives(&self, event_type: &str) -> bool {
        let types = self.types.as_ref();
        types.is_none_or(|types| types.contains(event_type))
    }

    /// Delivers the events that follow from one stored event, in their order. All of them have types that the sink
    /// receives.
    ///
    /// # Errors
    /// The receiver has not confirmed all of them. All are delivered again.
    pub async fn deliver(&self, events: &[CloudEvent]) -> Result<(), DeliveryError> {
        if events.is_empty() {
            return Ok(());
        }
        self.transport.deliver(events).await
    }
}
