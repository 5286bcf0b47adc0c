//! A key without its value.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(default)]
    loan_days: u32,
}

fn main() {}
