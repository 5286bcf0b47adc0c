//! A default that is no value of the setting.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(default = 300)]
    loan_days: u8,
}

fn main() {}
