//! The service: it serves everything that the modules declare.

mod purchase_book;
mod stock;
#[cfg(test)]
mod tests;

use es_framework::App;

fn main() -> es_framework::Result<()> {
    app().run()
}

fn app() -> App {
    App::new("{{name}}")
}
