//! A field that the event does not have.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = "/readers/{raeder}")]
struct LoanOpenedEvent {
    reader: Uuid,
}

fn main() {}
