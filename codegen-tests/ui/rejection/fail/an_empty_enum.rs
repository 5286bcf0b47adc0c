//! A rejection that can refuse nothing.

use es_framework::prelude::*;

#[derive(Debug, Rejection)]
enum LendingError {}

fn main() {}
