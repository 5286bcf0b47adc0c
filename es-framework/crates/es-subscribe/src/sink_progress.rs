//! The progress of a sink: its last deliveries.

use std::sync::{MutexGuard, PoisonError};

use super::{DeliveryLog, DeliveryRecord, SubscriberProgress};

impl SubscriberProgress {
    /// Records that the component is a sink.
    #[doc(hidden)]
    pub fn begin_deliveries(&self) {
        self.lock_deliveries().get_or_insert_default();
    }

    /// Records a delivery that has ended.
    #[doc(hidden)]
    pub fn record_delivery(&self, record: DeliveryRecord) {
        self.lock_deliveries().get_or_insert_default().push(record);
    }

    /// Returns the last deliveries, if the component is a sink.
    #[doc(hidden)]
    #[must_use]
    pub fn deliveries(&self) -> Option<DeliveryLog> {
        self.lock_deliveries().clone()
    }

    /// Returns true if the component is a sink.
    #[doc(hidden)]
    #[must_use]
    pub fn is_sink(&self) -> bool {
        self.lock_deliveries().is_some()
    }

    fn lock_deliveries(&self) -> MutexGuard<'_, Option<DeliveryLog>> {
        let deliveries = self.deliveries.lock();
        deliveries.unwrap_or_else(PoisonError::into_inner)
    }
}
