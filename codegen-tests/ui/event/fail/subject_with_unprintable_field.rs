//! A field that cannot stand in a subject.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = "/readers/{names}")]
struct LoanOpenedEvent {
    names: Vec<String>,
}

fn main() {}
