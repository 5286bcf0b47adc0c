//! The times at which doctors have patients. A doctor and a time are the key of a row.

use fw::prelude::*;

use crate::appointment::{book::SlotTakenEvent, cancel::SlotFreedEvent};

/// A time at which a doctor has a patient.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "taken_slots")]
pub struct TakenSlot {
    /// The doctor.
    #[key]
    pub doctor: Uuid,
    /// The time at which the appointment begins.
    #[key]
    pub starts_at: Timestamp,
}

#[projection]
impl TakenSlot {
    #[key(doctor, starts_at)]
    fn taken(event: SlotTakenEvent) -> Self {
        let SlotTakenEvent { doctor, starts_at } = event;
        Self { doctor, starts_at }
    }

    #[key(doctor, starts_at)]
    fn freed(self, _: SlotFreedEvent) -> Option<Self> {
        None
    }
}

/// Lists the times at which a doctor has patients. Everybody may see them, because they do not say who comes.
#[derive(Query)]
#[query(path = "/doctors/{doctor}/slots", rows = TakenSlot, order = starts_at, role = public)]
pub struct ListTakenSlots {
    /// The doctor.
    pub doctor: Uuid,
}

/// Shows whether a doctor has a patient at a time.
#[derive(Query)]
#[query(path = "/doctors/{doctor}/slots/{starts_at}", row = TakenSlot)]
pub struct FindTakenSlot {
    /// The doctor.
    pub doctor: Uuid,
    /// The time.
    pub starts_at: Timestamp,
}
