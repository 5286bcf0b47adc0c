//! A provided value is declared as a service.

use es_framework::prelude::*;

struct Rates {
    id: Uuid,
}

fn provide() -> es_framework::App {
    es_framework::App::new("shop").provide(Rates { id: Uuid::nil() })
}

fn main() {}
