//! A handler that is an `impl`.

use es_framework::prelude::*;

struct Shop;

#[handler]
impl Shop {
    fn purchase(&self) {}
}

fn main() {}
