//! The library service: staff purchase and remove copies of books, readers borrow and return them.

mod book;
mod lending;
mod loan;
mod reader;
mod stock;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> es_framework::Result<()> {
    es_framework::App::new("library-service").run()
}

#[cfg(test)]
mod tests {
    #[test]
    fn stored_events_stay_readable() {
        es_framework::schema_lock!();
    }
}
