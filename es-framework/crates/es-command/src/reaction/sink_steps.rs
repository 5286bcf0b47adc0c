//! A sink as a reaction: its steps are publications, and the action of each is the delivery.

use std::sync::Arc;

use es_event::{Declaration, RecordedEvent};
use es_observe::metrics::{
    catalogue::{SINK_DELIVERED, SINK_FAILED},
    counter,
};
use es_sink::{CloudEvent, ConfiguredSink, SinkStart};
use es_subscribe::{DeliveryRecord, state::Task};
use jiff::Timestamp;

use super::{
    ReactionAction, ReactionDescriptor, ReactionError, ReactionStep, ReactionTiming, StartPosition,
    publication::{OutgoingEvents, Publications},
    step_executor::{StepExecutor, StepOfEventView},
};

/// The attempts to deliver before an operator makes the next one. The last thirty of them are a day apart.
const ATTEMPTS: u32 = 50;

/// Returns the reaction that delivers the events of publications to a sink. It lives as long as the process, like the
/// declarations of the application.
#[doc(hidden)]
#[must_use]
pub fn sink_reaction(
    configured: ConfiguredSink,
    publications: &Publications,
) -> ReactionDescriptor {
    let sink: &'static _ = Box::leak(Box::new(configured.sink));
    let received = publications.iter().filter(|publication| {
        let events = (publication.public_events)();
        events.iter().any(|event| sink.receives(event.event_type))
    });
    let steps = received.map(|publication| ReactionStep {
        name: publication.name,
        event: publication.event,
        when: ReactionTiming::Immediate,
        action: ReactionAction::Publish(publication.publish),
        parameters: publication.parameters,
        commands: Vec::new,
    });
    ReactionDescriptor {
        name: &sink.name,
        start: match configured.start {
            SinkStart::First => StartPosition::First,
            SinkStart::Now => StartPosition::New,
            SinkStart::After(event) => StartPosition::After(event),
        },
        attempts: ATTEMPTS,
        repeats: false,
        steps: steps.collect::<Vec<_>>().leak(),
        sink: Some(sink),
        declaration: Declaration {
            file: "SINKS_FILE",
            ..es_event::declaration!()
        },
    }
}

impl StepExecutor {
    /// Returns true if the sink receives one of the events.
    pub(super) fn delivers_some(&self, outgoing: &OutgoingEvents) -> bool {
        let sink = self.reaction.sink;
        sink.is_some_and(|sink| outgoing.iter().any(|event| sink.receives(event.event_type)))
    }

    /// Delivers the events that a publication has returned for a stored event. Their ids are the same at each attempt, and
    /// at each sink.
    pub(super) async fn deliver(
        &self,
        event: &RecordedEvent,
        StepOfEventView { step, view }: StepOfEventView,
        outgoing: &OutgoingEvents,
    ) -> Result<(), ReactionError> {
        let Some(sink) = self.reaction.sink else {
            return Ok(());
        };
        let publication = self.step_name(step);
        let occurred_at = event.metadata().occurred_at();
        let numbered = outgoing.iter().enumerate();
        let received = numbered.filter(|(_, outgoing)| sink.receives(outgoing.event_type));
        let events: Vec<_> = received
            .map(|(number, outgoing)| CloudEvent {
                id: format!("{}/{publication}/{view}/{number}", event.id),
                source: Arc::clone(&event.source),
                subject: event.subject.to_string(),
                event_type: outgoing.event_type,
                time: event.time.to_string(),
                occurred_at: occurred_at.map(|time| time.to_string()),
                trace: event.trace.clone(),
                data: Arc::clone(&outgoing.data),
            })
            .collect();
        let delivered = sink.deliver(&events).await;
        let labels = [("sink", self.reaction.name)];
        match &delivered {
            Ok(()) => {
                let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
                counter(&SINK_DELIVERED, &labels).increment(count);
            }
            Err(_) => counter(&SINK_FAILED, &labels).increment(1),
        }
        Ok(delivered?)
    }

    /// Lets operators see the end of a delivery.
    pub(super) fn record_delivery(&self, task: &Task, result: &Result<(), ReactionError>) {
        if self.reaction.sink.is_some() {
            self.progress.record_delivery(DeliveryRecord {
                time: Timestamp::now(),
                event: task.key.event,
                subject: task.subject.clone(),
                publication: task.key.step.clone(),
                error: result.as_ref().err().map(ToString::to_string),
            });
        }
    }
}
