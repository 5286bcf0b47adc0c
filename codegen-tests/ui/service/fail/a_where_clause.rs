//! A service is found by its type, which is always there.

use es_framework::prelude::*;

#[derive(Service)]
struct Rates
where
    u8: Copy,
{
    rates: Vec<u8>,
}

fn main() {}
