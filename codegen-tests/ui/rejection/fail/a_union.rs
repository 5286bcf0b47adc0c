//! A union.

use es_framework::prelude::*;

#[derive(Rejection)]
union LendingError {
    due_at: u32,
    reader: u64,
}

fn main() {}
