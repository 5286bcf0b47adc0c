//! An event is about something.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = "/")]
struct LoanOpenedEvent {
    reader: Uuid,
}

fn main() {}
