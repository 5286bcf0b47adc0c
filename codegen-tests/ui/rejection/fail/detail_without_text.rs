//! A sentence that is no text.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict, detail)]
    CopyIsLent,
}

fn main() {}
