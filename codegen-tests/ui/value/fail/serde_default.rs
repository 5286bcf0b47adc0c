//! A key that only the fields may have.

use es_framework::prelude::*;

#[derive(Value, Default)]
#[serde(default)]
struct Price {
    cents: u32,
}

fn main() {}
