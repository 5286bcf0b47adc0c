//! The key has the fields of the row's key, in their order.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.tests")]
struct AppointmentBookedEvent {
    doctor: Uuid,
    day: String,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct AppointmentMovedEvent {
    doctor: Uuid,
    day: String,
}

#[derive(ReadModel)]
#[read_model(table = "days")]
struct DoctorsDay {
    #[key]
    doctor: Uuid,
    #[key]
    day: String,
}

#[projection]
impl DoctorsDay {
    #[key(doctor)]
    fn booked(event: &AppointmentBookedEvent) -> Self {
        Self {
            doctor: event.doctor,
            day: event.day.clone(),
        }
    }

    #[key(day, doctor)]
    fn moved(self, _: &AppointmentMovedEvent) -> Self {
        self
    }
}

fn main() {}
