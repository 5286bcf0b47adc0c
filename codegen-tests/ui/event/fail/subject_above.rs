//! Nothing lies above.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = "../readers/{reader}")]
struct LoanOpenedEvent {
    reader: Uuid,
}

fn main() {}
