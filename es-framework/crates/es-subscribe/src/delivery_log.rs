//! The last deliveries to a sink, as operators see them.

use std::{
    borrow::Cow,
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use es_event::{EventId, Subject};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// The number of deliveries that are shown.
const MAX_RECORDS: usize = 20;

/// A delivery that has ended.
#[doc(hidden)]
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Delivery")]
pub struct DeliveryRecord {
    /// The time of the end.
    pub time: Timestamp,
    /// The stored event.
    #[schemars(with = "String")]
    pub event: EventId,
    /// The subject of the event.
    #[schemars(with = "String")]
    pub subject: Subject,
    /// The publication.
    pub publication: Cow<'static, str>,
    /// The reason for which the receiver has not confirmed it.
    pub error: Option<String>,
}

/// The last deliveries of a sink, the newest first.
#[doc(hidden)]
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(rename = "Deliveries")]
pub struct DeliveryLog(VecDeque<DeliveryRecord>);

/// The last deliveries of a component, which has them if it is a sink.
pub(super) type SharedDeliveryLog = Arc<Mutex<Option<DeliveryLog>>>;

impl DeliveryLog {
    /// Adds a delivery, and forgets the oldest one if there are too many.
    pub(super) fn push(&mut self, record: DeliveryRecord) {
        self.0.truncate(MAX_RECORDS.saturating_sub(1));
        self.0.push_front(record);
    }

    /// Returns the deliveries, the newest first.
    pub fn iter(&self) -> impl Iterator<Item = &DeliveryRecord> {
        self.0.iter()
    }
}
