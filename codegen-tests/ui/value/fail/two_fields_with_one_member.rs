//! Two fields that are one member of the JSON.

use es_framework::prelude::*;

#[derive(Value)]
struct Price {
    in_cents: u32,
    #[serde(rename = "inCents")]
    cents: u32,
}

fn main() {}
