//! Another attribute of serde gives no name.

use es_framework::prelude::*;

#[derive(State)]
struct Book {
    #[serde(default)]
    größe: u32,
}

fn main() {}
