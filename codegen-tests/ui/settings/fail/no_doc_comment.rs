//! `--help` would have nothing to say.

use es_framework::prelude::*;

#[derive(Settings)]
struct Lending {
    loan_days: u32,
}

fn main() {}
