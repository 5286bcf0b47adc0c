//! Something is given where nothing may be.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    /// How long a copy is lent.
    #[setting(default = 28)]
    loan_days: Option<u32>,
}

fn main() {}
