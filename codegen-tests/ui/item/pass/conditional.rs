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

struct Reminder;

#[reaction]
#[cfg(any())]
impl Reminder {
    fn missing(_: &MissingEvent) -> MissingCommand {
        MissingCommand
    }
}

#[reaction]
#[cfg(unix)]
impl Reminder {
    #[cfg(unix)]
    fn happened(event: &HappenedEvent) -> BorrowBookCommand {
        BorrowBookCommand { id: event.id }
    }

    #[cfg(any())]
    #[deadline(at = at)]
    fn missing(_: &MissingEvent) -> MissingCommand {
        MissingCommand
    }

    #[cfg(any())]
    #[schedule(cron = "0 6 * * *")]
    async fn missing_call() -> Result<(), MissingError> {
        Err(MissingError)
    }
}

#[test]
fn a_reaction_has_the_steps_that_are_compiled() {
    use es_framework::reaction::React;

    let steps = <Reminder as React>::STEPS.iter().map(|step| step.name);
    assert_eq!(steps.collect::<Vec<_>>(), ["happened"]);
}
