//! A service lives as long as the application.

use es_framework::prelude::*;

#[derive(Service)]
struct Rates<'a> {
    rates: &'a [u32],
}

fn main() {}
