//! The library service: staff purchase book copies; readers will borrow and return them.

mod book;
mod stock;

fn main() -> es_framework::Result<()> {
    es_framework::App::new("library-service").run()
}
