//! Only the framework reads the JSON of a state, so its shape is no matter.

use es_framework::prelude::*;

#[derive(State)]
#[serde(tag = "status")]
enum Book {
    Available,
    Lent { reader: Uuid },
}

fn main() {}
