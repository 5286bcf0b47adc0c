//! A clinic: patients book appointments with doctors.

#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]

pub mod appointment;
pub mod doctor;
pub mod insurer;
pub mod patient;
pub mod rent;
pub mod room;
pub mod schedule;
pub mod slots;
pub mod utilisation;

use fw::App;

/// Returns the application with the services that it needs.
pub fn clinic() -> App {
    App::new("clinic").provide(insurer::InsurerClient::new())
}
