//! A default that `--help` cannot show.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(default = 4 * 7)]
    loan_days: u32,
}

fn main() {}
