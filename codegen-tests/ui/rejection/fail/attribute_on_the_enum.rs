//! The attribute above the enum.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
#[rejection(conflict)]
enum LendingError {
    #[rejection(gone)]
    CopyRemoved,
}

fn main() {}
