//! A name that serde cannot put into camelCase.

use es_framework::prelude::*;

#[derive(State)]
struct Book {
    größe: u32,
}

fn main() {}
