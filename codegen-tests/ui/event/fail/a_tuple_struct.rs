//! An event whose fields have no names.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent(Uuid);

fn main() {}
