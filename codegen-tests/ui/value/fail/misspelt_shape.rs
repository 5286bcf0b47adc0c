//! A misspelt key above the value.

use es_framework::prelude::*;

#[derive(Value)]
#[serde(tga = "kind")]
enum Price {
    Free,
    Fixed { cents: u32 },
}

fn main() {}
