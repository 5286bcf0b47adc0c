//! A state borrows nothing.

use es_framework::prelude::*;

#[derive(State)]
struct Book<'a> {
    title: &'a str,
}

fn main() {}
