//! A flag starts with a letter.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    _loan_days: u32,
}

fn main() {}
