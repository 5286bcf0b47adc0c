//! A subject without quotation marks.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = readers)]
struct LoanOpenedEvent {
    reader: Uuid,
}

fn main() {}
