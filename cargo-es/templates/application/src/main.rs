//! The service: it serves everything that the modules declare.

{{modules}}
#[cfg(test)]
mod tests;

use es_framework::App;

fn main() -> es_framework::Result<()> {
    app().run()
}

fn app() -> App {
    App::new("{{name}}")
}
