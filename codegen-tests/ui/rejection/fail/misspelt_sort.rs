//! A sort that is spelt otherwise.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflct)]
    CopyIsLent,
}

fn main() {}
