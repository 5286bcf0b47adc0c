//! The price of an appointment that is over. The event has its third shape.

use fw::prelude::*;

use super::{Appointment, AppointmentError};

/// Completes an appointment.
#[derive(Command)]
#[command(subject = "/appointments/{id}", role = "staff")]
pub struct CompleteAppointmentCommand {
    /// The appointment.
    pub id: Uuid,
    /// The duration in minutes.
    #[validate(range(min = 1, max = 600))]
    pub minutes: u32,
}

/// The event until 2024: the price was a text in euros.
#[derive(Event)]
#[event(name = "AppointmentCompletedEvent")]
pub struct AppointmentCompletedV1 {
    /// The appointment.
    pub id: Uuid,
    /// The price, such as `12.50`.
    pub price: String,
}

/// The event until 2025: nobody wrote down how long an appointment took.
#[derive(Event)]
#[event(name = "AppointmentCompletedEvent", version = 2)]
pub struct AppointmentCompletedV2 {
    /// The appointment.
    pub id: Uuid,
    /// The price.
    pub fee_cents: i64,
}

/// An appointment is over.
#[derive(Debug, PartialEq, Event)]
#[event(version = 3)]
pub struct AppointmentCompletedEvent {
    /// The appointment.
    pub id: Uuid,
    /// The price.
    pub fee_cents: i64,
    /// The duration in minutes, if somebody wrote it down.
    pub minutes: Option<u32>,
}

#[upcast]
fn a_price_became_cents(old: AppointmentCompletedV1) -> AppointmentCompletedV2 {
    let fee_cents = old.price.replace('.', "").parse().unwrap_or_default();
    AppointmentCompletedV2 {
        id: old.id,
        fee_cents,
    }
}

#[upcast]
fn minutes_are_written_down(old: AppointmentCompletedV2) -> AppointmentCompletedEvent {
    let AppointmentCompletedV2 { id, fee_cents } = old;
    AppointmentCompletedEvent {
        id,
        fee_cents,
        minutes: None,
    }
}

#[handler]
fn complete(
    appointment: &Appointment,
    command: CompleteAppointmentCommand,
) -> Result<AppointmentCompletedEvent, AppointmentError> {
    if !appointment.is_open {
        return Err(AppointmentError::AppointmentOver);
    }
    let CompleteAppointmentCommand { id, minutes } = command;
    let fee_cents = appointment.fee_cents;
    Ok(AppointmentCompletedEvent {
        id,
        fee_cents,
        minutes: Some(minutes),
    })
}
