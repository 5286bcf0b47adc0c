//! A misspelt key.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(defautl = 28)]
    loan_days: u32,
}

fn main() {}
