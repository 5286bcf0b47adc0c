//! Sinks: where the public events of an application go. A sink delivers to a webhook or to a broker.

mod public_event;
mod transport;

pub use public_event::CloudEvent;
pub use transport::{DeliveryError, Transport};
