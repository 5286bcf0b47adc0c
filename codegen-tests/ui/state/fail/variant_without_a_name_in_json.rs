//! A name that serde cannot put into camelCase.

use es_framework::prelude::*;

#[derive(State)]
enum Book {
    Verfügbar,
}

fn main() {}
