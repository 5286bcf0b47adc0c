//! The names of a value are in camelCase.

use es_framework::prelude::*;

#[derive(Value)]
#[serde(rename_all = "UPPERCASE")]
enum Status {
    Available,
}

fn main() {}
