//! A word that does not exist.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(status = 409)]
    CopyIsLent,
}

fn main() {}
