//! A value that cannot be typed.

use es_framework::prelude::*;

#[derive(Clone)]
struct Days(u32);

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    loan_days: Days,
}

fn main() {}
