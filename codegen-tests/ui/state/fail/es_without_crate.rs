//! A misspelt key of the attribute that every macro has.

use es_framework::prelude::*;

#[derive(State)]
#[es(carte = "::es_framework")]
struct Book {
    copies: u32,
}

fn main() {}
