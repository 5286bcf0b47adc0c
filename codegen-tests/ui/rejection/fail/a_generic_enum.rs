//! A rejection with a type parameter.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError<T> {
    #[rejection(conflict)]
    CopyIsLent { due_at: T },
}

fn main() {}
