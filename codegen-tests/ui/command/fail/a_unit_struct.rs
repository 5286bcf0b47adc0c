//! A command without braces.

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/stock")]
struct CountStockCommand;

fn main() {}
