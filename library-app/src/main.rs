//! The library service: staff purchase and remove copies of books, readers borrow, return and reserve them.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "settings and loans are far below the limits of their types"
)]

mod book;
mod lending;
mod loan;
#[cfg(test)]
mod random_callers;
mod reader;
mod reservation;
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
