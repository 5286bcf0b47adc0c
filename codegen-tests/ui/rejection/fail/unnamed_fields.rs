//! A refusal whose fields have no names.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict)]
    CopyIsLent(String),
}

fn main() {}
