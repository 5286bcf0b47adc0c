//! Appointments of patients with doctors.

pub mod book;
pub mod cancel;
pub mod complete;

use fw::prelude::*;

use book::AppointmentBookedEvent;
use cancel::AppointmentCancelledEvent;
use complete::AppointmentCompletedEvent;

/// An appointment.
#[derive(State)]
pub struct Appointment {
    /// The doctor.
    pub doctor: Uuid,
    /// The patient, who owns it.
    pub patient: Uuid,
    /// The time at which it begins.
    pub starts_at: Timestamp,
    /// The price.
    pub fee_cents: i64,
    /// True if it can still be cancelled or completed.
    pub is_open: bool,
}

#[evolve]
impl Appointment {
    fn booked(event: &AppointmentBookedEvent) -> Self {
        Self {
            doctor: event.doctor,
            patient: event.patient,
            starts_at: event.starts_at,
            fee_cents: event.fee_cents,
            is_open: true,
        }
    }

    fn cancelled(&mut self, _: &AppointmentCancelledEvent) {
        self.is_open = false;
    }

    fn completed(&mut self, _: &AppointmentCompletedEvent) {
        self.is_open = false;
    }
}

/// The reason why an appointment is not booked, cancelled or completed.
#[derive(Debug, PartialEq, Rejection)]
pub enum AppointmentError {
    /// The doctor has no time
    #[rejection(conflict, detail = "the doctor has another patient at {starts_at}")]
    DoctorBusy {
        /// The time that was asked for.
        starts_at: Timestamp,
    },
    /// The appointment is over
    #[rejection(conflict)]
    AppointmentOver,
    /// The appointment is somebody else's
    #[rejection(forbidden)]
    SomebodyElses,
}

impl From<NotOwner> for AppointmentError {
    fn from(_: NotOwner) -> Self {
        Self::SomebodyElses
    }
}
