//! Two settings of one environment variable.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    loan_days: u32,
    /// How long a film is lent.
    #[setting(env = "LOAN_DAYS")]
    film_days: u32,
}

fn main() {}
