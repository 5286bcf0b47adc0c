//! Each field has keys of its own.

use es_framework::prelude::*;

#[derive(Settings)]
#[setting(default = 28)]
struct Lending {
    /// How long a copy is lent.
    loan_days: u32,
}

fn main() {}
