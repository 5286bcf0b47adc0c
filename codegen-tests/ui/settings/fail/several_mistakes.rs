//! All mistakes of the settings are reported at once.

use es_framework::prelude::*;

#[derive(Settings)]
#[setting]
struct Lending<T> {
    #[setting(env = "days", defautl = 1)]
    loan_days: T,
    /// How many.
    #[setting(default = 1 + 1)]
    Limit: Option<u32>,
}

fn main() {}
