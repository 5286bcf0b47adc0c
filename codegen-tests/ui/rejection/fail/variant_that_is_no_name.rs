//! A variant whose name does not become one for programs.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {
    #[rejection(conflict)]
    Größe,
}

fn main() {}
