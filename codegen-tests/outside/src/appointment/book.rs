//! Booking.

use fw::prelude::*;

use super::AppointmentError;
use crate::{doctor::Doctor, patient::Patient};

/// Books an appointment.
#[derive(Command)]
#[command(subject = "/appointments/{id}", condition = pristine)]
#[command(role = ["patient", "staff"], owner = patient, owner_except = "staff")]
pub struct BookAppointmentCommand {
    /// The appointment.
    pub id: Uuid,
    /// The doctor.
    pub doctor: Uuid,
    /// The patient.
    pub patient: Uuid,
    /// The time at which it begins.
    pub starts_at: Timestamp,
}

/// An appointment was booked.
#[derive(Debug, PartialEq, Event)]
pub struct AppointmentBookedEvent {
    /// The appointment.
    pub id: Uuid,
    /// The doctor.
    pub doctor: Uuid,
    /// The patient.
    pub patient: Uuid,
    /// The time at which it begins.
    pub starts_at: Timestamp,
    /// The price.
    pub fee_cents: i64,
}

/// A doctor has a patient at this time.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/doctors/{doctor}")]
pub struct SlotTakenEvent {
    /// The doctor.
    pub doctor: Uuid,
    /// The time at which the appointment begins.
    pub starts_at: Timestamp,
}

#[handler]
fn book(
    command: BookAppointmentCommand,
    #[subject("/doctors/{doctor}")] doctor: &Doctor,
    #[subject("/patients/{patient}")] _: &Patient,
) -> Result<(AppointmentBookedEvent, SlotTakenEvent), AppointmentError> {
    let starts_at = command.starts_at;
    if !doctor.is_free(starts_at) {
        return Err(AppointmentError::DoctorBusy { starts_at });
    }
    let booked = AppointmentBookedEvent {
        id: command.id,
        doctor: command.doctor,
        patient: command.patient,
        starts_at,
        fee_cents: doctor.fee_cents,
    };
    let doctor = command.doctor;
    Ok((booked, SlotTakenEvent { doctor, starts_at }))
}
