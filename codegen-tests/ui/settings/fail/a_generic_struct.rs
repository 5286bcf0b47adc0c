//! Settings are found by their type.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending<T> {
    /// How long a copy is lent.
    loan_days: T,
}

fn main() {}
