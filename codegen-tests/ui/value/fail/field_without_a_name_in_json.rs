//! A name that serde cannot put into camelCase.

use es_framework::prelude::*;

#[derive(Value)]
struct Price {
    währung: String,
}

fn main() {}
