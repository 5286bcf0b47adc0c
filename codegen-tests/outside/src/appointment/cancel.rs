//! Cancelling, by the patient or by the clinic.

use fw::prelude::*;

use super::{Appointment, AppointmentError};

/// Cancels an appointment.
#[derive(Command)]
#[command(subject = "/appointments/{id}", role = ["patient", "staff"], owner_except = "staff")]
pub struct CancelAppointmentCommand {
    /// The appointment.
    pub id: Uuid,
}

/// An appointment was cancelled.
#[derive(Debug, PartialEq, Event)]
#[event(from = CancelAppointmentCommand)]
pub struct AppointmentCancelledEvent {
    /// The appointment.
    pub id: Uuid,
}

/// A doctor has time again.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/doctors/{doctor}")]
pub struct SlotFreedEvent {
    /// The doctor.
    pub doctor: Uuid,
    /// The time at which the appointment would have begun.
    pub starts_at: Timestamp,
}

#[handler]
fn cancel(
    appointment: &Appointment,
    command: CancelAppointmentCommand,
    caller: &Caller,
) -> Result<(AppointmentCancelledEvent, SlotFreedEvent), AppointmentError> {
    caller.must_own(&appointment.patient)?;
    if !appointment.is_open {
        return Err(AppointmentError::AppointmentOver);
    }
    let freed = SlotFreedEvent {
        doctor: appointment.doctor,
        starts_at: appointment.starts_at,
    };
    Ok((AppointmentCancelledEvent { id: command.id }, freed))
}
