//! A union has no JSON.

use es_framework::prelude::*;

#[derive(State)]
union Book {
    copies: u32,
    readers: u32,
}

fn main() {}
