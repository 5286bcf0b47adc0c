//! A name that serde cannot put into camelCase.

use es_framework::prelude::*;

#[derive(Value)]
enum Price {
    Ermäßigt,
}

fn main() {}
