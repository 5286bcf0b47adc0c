//! A struct whose name no type has.

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct BuchGekauftÄ {
    id: Uuid,
}

fn main() {}
