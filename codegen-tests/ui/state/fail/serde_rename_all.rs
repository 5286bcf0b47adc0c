//! The names of a state are in camelCase.

use es_framework::prelude::*;

#[derive(State)]
#[serde(rename_all = "UPPERCASE")]
struct Book {
    copies: u32,
}

fn main() {}
