//! Below the command's subject lies `./…`.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library", subject = ".notes/{reader}")]
struct LoanOpenedEvent {
    reader: Uuid,
}

fn main() {}
