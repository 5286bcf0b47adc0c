//! A service is shared by all commands, wherever they run.

use es_framework::prelude::*;

use std::rc::Rc;

#[derive(Service)]
struct Rates {
    rates: Rc<[u32]>,
}

fn main() {}
