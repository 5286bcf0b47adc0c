//! A default that is no value of the setting.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(default = true)]
    loan_days: u32,
}

fn main() {}
