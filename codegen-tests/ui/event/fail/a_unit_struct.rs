//! An event without braces.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct StockCountedEvent;

fn main() {}
