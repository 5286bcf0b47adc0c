//! A state is of one type.

use es_framework::prelude::*;

#[derive(State)]
struct Book<T> {
    copies: T,
}

fn main() {}
