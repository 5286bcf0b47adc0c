//! A subject that an event may lack.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = "/readers/{reader}")]
struct LoanOpenedEvent {
    reader: Option<Uuid>,
}

fn main() {}
