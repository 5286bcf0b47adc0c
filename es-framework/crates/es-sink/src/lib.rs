//! Sinks: where the public events of an application go. A sink delivers to a webhook or to a broker.

#[cfg(feature = "nats")]
mod nats;
mod public_event;
mod transport;

#[cfg(feature = "nats")]
pub use nats::{NatsSettings, NatsTransport};
pub use public_event::CloudEvent;
pub use transport::{DeliveryError, Transport};
