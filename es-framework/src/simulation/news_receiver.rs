//! The public events of the simulated application, and the other system that receives them through a sink.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use async_trait::async_trait;
use es_sink::{CloudEvent, ConfiguredSink, DeliveryError, Sink, SinkStart, Transport};
use serde_json::Value as JsonValue;

use super::{
    environment::lock, owner_domain::OwnerNamedEvent, simulated_store::StoreServer,
    wallet_domain::TransferReceivedEvent,
};
use crate::{
    __private::inventory,
    event::DuplicateDeclaration,
    prelude::*,
    publication::{PublicationDescriptor, Publications},
    reaction::{ReactionDescriptor, sink_reaction},
};

/// The name of the sink.
pub(super) const NAME: &str = "news";
/// The names of the publications.
const PUBLICATIONS: [&str; 2] = ["tell_transfer", "tell_owner"];
/// The time limit of a delivery, as a transport has one.
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(PublicEvent)]
pub(super) struct TransferToldEvent {
    operation: u32,
}

#[publish]
fn tell_transfer(event: &TransferReceivedEvent) -> TransferToldEvent {
    let operation = event.operation;
    TransferToldEvent { operation }
}

#[derive(PublicEvent)]
pub(super) struct OwnerToldEvent {
    operation: u32,
    name: String,
}

/// It does not name the personal field, so it sees the replacement.
#[publish]
fn tell_owner(event: &OwnerNamedEvent) -> OwnerToldEvent {
    OwnerToldEvent {
        operation: event.operation,
        name: event.name.clone(),
    }
}

/// A public event that arrived.
#[derive(Debug, Clone)]
pub(super) struct ArrivedEvent {
    pub(super) id: String,
    pub(super) subject: String,
    pub(super) data: JsonValue,
    /// The number of durable events when it arrived.
    pub(super) durable: u64,
}

/// The other system.
#[derive(Debug)]
pub(super) struct NewsReceiver {
    server: Arc<StoreServer>,
    arrived: Mutex<Vec<ArrivedEvent>>,
}

/// The connection of one instance to it. A sink lives as long as the process of all runs, so it keeps no run alive.
#[derive(Debug)]
struct NewsConnection {
    receiver: Weak<NewsReceiver>,
    instance: &'static str,
}

impl NewsReceiver {
    pub(super) fn new(server: Arc<StoreServer>) -> Self {
        Self {
            server,
            arrived: Mutex::default(),
        }
    }

    /// Returns all events in the order of their arrival.
    pub(super) fn arrived(&self) -> Vec<ArrivedEvent> {
        lock(&self.arrived).clone()
    }

    async fn receive(&self, events: &[CloudEvent], instance: &str) -> Result<(), DeliveryError> {
        let (server, environment) = (&self.server, &self.server.environment);
        let faults = environment.faults();
        if environment.random_bool(faults.hanging_call) {
            environment.sleep_randomly(100_000, 100_000).await;
        }
        environment.sleep_randomly(0, 5).await;
        let failed = |reason: &str| Err(DeliveryError::Failed(reason.to_owned()));
        if environment.random_bool(faults.failed_call) {
            return failed("the receiver is away");
        }
        for event in events {
            environment.record_trace(instance, format_args!("delivers {}", event.id));
            lock(&self.arrived).push(ArrivedEvent {
                id: event.id.clone(),
                subject: event.subject.clone(),
                data: serde_json::from_str(event.data.get()).unwrap_or_default(),
                durable: server.event_count(),
            });
        }
        if environment.random_bool(faults.lost_answer) {
            return failed("the answer of the receiver was lost");
        }
        Ok(())
    }
}

#[async_trait]
impl Transport for NewsConnection {
    async fn deliver(&self, events: &[CloudEvent]) -> Result<(), DeliveryError> {
        let failed = |reason: &str| Err(DeliveryError::Failed(reason.to_owned()));
        let Some(receiver) = self.receiver.upgrade() else {
            return failed("the run has ended");
        };
        let delivering = receiver.receive(events, self.instance);
        let delivered = tokio::time::timeout(TIMEOUT, delivering).await;
        delivered.unwrap_or_else(|_| failed("the receiver did not answer in time"))
    }
}

/// Returns the sink of one process.
pub(super) fn sink(
    receiver: &Arc<NewsReceiver>,
    instance: &'static str,
) -> Result<ReactionDescriptor, DuplicateDeclaration> {
    let declared = inventory::iter::<PublicationDescriptor>.into_iter();
    let own = declared.filter(|publication| PUBLICATIONS.contains(&publication.name));
    let publications = Publications::new(own.copied())?;
    let receiver = Arc::downgrade(receiver);
    let configured = ConfiguredSink {
        sink: Sink {
            name: NAME.into(),
            types: None,
            max_running: 16,
            transport: Box::new(NewsConnection { receiver, instance }),
        },
        start: SinkStart::First,
    };
    Ok(sink_reaction(configured, &publications))
}
