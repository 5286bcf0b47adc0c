//! Patients.

use fw::prelude::*;

/// Registers a patient.
#[derive(Command)]
#[command(subject = "/patients/{id}", condition = pristine, role = "staff")]
pub struct RegisterPatientCommand {
    /// The patient.
    pub id: Uuid,
    /// The name of the patient.
    #[validate(text(max = 200))]
    pub name: String,
    /// The address for reminders. Nobody else has it.
    #[validate(text(max = 200))]
    pub email: String,
}

/// A patient is registered.
#[derive(Debug, PartialEq, Event)]
#[event(from = RegisterPatientCommand)]
pub struct PatientRegisteredEvent {
    /// The patient.
    pub id: Uuid,
    /// The name of the patient.
    #[personal(of = id, erased = "erased patient")]
    pub name: String,
    /// The address for reminders.
    #[personal(of = id, erased = "erased address")]
    #[unique("patient-email", trim, ignore_case)]
    pub email: String,
}

#[handler]
fn register(command: RegisterPatientCommand) -> PatientRegisteredEvent;

/// A patient who may book.
#[derive(State)]
pub struct Patient {}

#[evolve]
impl Patient {
    fn registered(_: &PatientRegisteredEvent) -> Self {
        Self {}
    }
}
