//! One key twice.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(default = 28, default = 14)]
    loan_days: u32,
}

fn main() {}
