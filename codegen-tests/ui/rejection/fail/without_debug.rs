//! A rejection without , which every error has.

use es_framework::prelude::*;

#[derive(Rejection)]
enum LendingError {
    #[rejection(conflict)]
    CopyIsLent,
}

fn main() {}
