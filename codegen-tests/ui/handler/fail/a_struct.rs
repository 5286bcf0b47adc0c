//! A handler that is no function.

use es_framework::prelude::*;

#[handler]
struct Purchase;

fn main() {}
