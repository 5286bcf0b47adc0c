//! Two variants that are one word in JSON.

use es_framework::prelude::*;

#[derive(Value)]
enum Price {
    Low,
    #[serde(rename = "low")]
    Reduced,
}

fn main() {}
