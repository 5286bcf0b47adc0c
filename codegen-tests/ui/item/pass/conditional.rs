//! The macros leave out an item that is not compiled, wherever the condition stands.

#![deny(warnings)]

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct HappenedEvent {
    id: Uuid,
    #[cfg(any())]
    nothing: Missing,
}

#[derive(State)]
enum Book {
    There,
    #[cfg(any())]
    Missing(Missing),
}

#[evolve]
#[cfg(any())]
impl Book {
    fn missing(_: &HappenedEvent) -> Self {
        Self::Missing
    }
}

#[evolve]
#[cfg(unix)]
impl Book {
    #[cfg(unix)]
    fn happened(_: &HappenedEvent) -> Self {
        Self::There
    }

    #[cfg(any())]
    fn missing(_: &MissingEvent) -> Self {
        Self::Missing
    }
}

#[derive(ReadModel)]
#[read_model(table = "books", subject = "/books/{id}")]
struct Copy {
    #[key]
    id: Uuid,
    #[cfg(any())]
    nothing: Missing,
}

#[projection]
#[cfg(any())]
impl Copy {
    fn missing(_: &HappenedEvent) -> Self {
        Self::Missing
    }
}

#[projection]
#[cfg(unix)]
impl Copy {
    #[cfg(unix)]
    fn happened(event: &HappenedEvent) -> Self {
        Self { id: event.id }
    }

    #[cfg(any())]
    fn missing(_: &MissingEvent) -> Self {
        Self::Missing
    }
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct BorrowBookCommand {
    id: Uuid,
    #[cfg(any())]
    nothing: Missing,
}

#[handler]
#[cfg(any())]
fn missing(_: BorrowBookCommand) -> MissingEvent {
    MissingEvent
}

#[handler]
#[cfg(unix)]
fn borrow(command: BorrowBookCommand, _book: &Book) -> HappenedEvent {
    HappenedEvent { id: command.id }
}
