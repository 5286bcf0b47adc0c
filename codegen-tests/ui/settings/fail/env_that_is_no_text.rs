//! A name without quotation marks.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(env = LOAN_DAYS)]
    loan_days: u32,
}

fn main() {}
