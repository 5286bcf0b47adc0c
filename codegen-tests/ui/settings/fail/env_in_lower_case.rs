//! Environment variables are in upper case.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(env = "loan-days")]
    loan_days: u32,
}

fn main() {}
