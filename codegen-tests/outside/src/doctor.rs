//! Doctors, and when they have time.

use std::collections::BTreeSet;

use fw::prelude::*;

use crate::appointment::{book::SlotTakenEvent, cancel::SlotFreedEvent};

/// Adds a doctor.
#[derive(Command)]
#[command(subject = "/doctors/{id}", condition = pristine, role = "staff")]
pub struct AddDoctorCommand {
    /// The doctor.
    pub id: Uuid,
    /// The name of the doctor.
    #[validate(text(max = 200))]
    pub name: String,
    /// The price of an appointment.
    #[validate(range(max = 1_000_000))]
    pub fee_cents: i64,
}

/// A doctor works here.
#[derive(Debug, PartialEq, Event)]
#[event(from = AddDoctorCommand)]
pub struct DoctorAddedEvent {
    /// The doctor.
    pub id: Uuid,
    /// The name of the doctor.
    pub name: String,
    /// The price of an appointment.
    pub fee_cents: i64,
}

#[handler]
fn add(command: AddDoctorCommand) -> DoctorAddedEvent;

/// A doctor, with the appointments to come.
#[derive(State)]
pub struct Doctor {
    /// The price of an appointment.
    pub fee_cents: i64,
    taken: BTreeSet<Timestamp>,
}

impl Doctor {
    /// Returns true if no patient has this time.
    pub fn is_free(&self, starts_at: Timestamp) -> bool {
        !self.taken.contains(&starts_at)
    }
}

#[evolve]
impl Doctor {
    fn added(event: &DoctorAddedEvent) -> Self {
        let fee_cents = event.fee_cents;
        Self {
            fee_cents,
            taken: BTreeSet::new(),
        }
    }

    fn taken(&mut self, event: &SlotTakenEvent) {
        self.taken.insert(event.starts_at);
    }

    fn freed(&mut self, event: &SlotFreedEvent) {
        self.taken.remove(&event.starts_at);
    }
}

/// A doctor, as pages show them.
#[derive(ReadModel)]
#[read_model(table = "doctors", subject = "/doctors/{id}")]
pub struct DoctorRow {
    /// The doctor.
    #[key]
    pub id: Uuid,
    /// The name of the doctor.
    pub name: String,
}

#[projection]
impl DoctorRow {
    fn added(event: DoctorAddedEvent) -> Self {
        Self {
            id: event.id,
            name: event.name,
        }
    }
}
