//! A refusal that does not say what sort it is.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    CopyIsLent,
}

fn main() {}
