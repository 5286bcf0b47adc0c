//! The attribute stands above something else altogether.

use es_framework::prelude::*;

#[evolve]
mod book {}

fn main() {}
