//! Sinks: where the public events of an application go. A sink delivers to a webhook or to a broker.

#![doc(hidden)]

#[cfg(feature = "webhook")]
mod address;
#[cfg(feature = "webhook")]
mod batch;
#[cfg(feature = "nats")]
mod nats;
mod public_event;
#[cfg(feature = "webhook")]
mod settings;
mod sink;
mod transport;
#[cfg(feature = "webhook")]
mod webhook;

#[cfg(feature = "nats")]
pub use nats::{NatsSettings, NatsTransport};
pub use public_event::CloudEvent;
#[cfg(feature = "webhook")]
pub use settings::{InvalidSinks, read_sinks};
pub use sink::{ConfiguredSink, Sink, SinkStart};
pub use transport::{DeliveryError, LONGEST_PAUSE, Transport};
#[cfg(feature = "webhook")]
pub use webhook::{WebhookSettings, WebhookTransport};
