//! A state that can never be.

use es_framework::prelude::*;

#[derive(State)]
enum Book {}

fn main() {}
