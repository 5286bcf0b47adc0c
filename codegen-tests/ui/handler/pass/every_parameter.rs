//! A handler takes its command and, by reference, any number of other things, in any order; also
//! where all of it is written by a macro.

#![deny(warnings)]

use es_framework::prelude::*;

#[derive(Event)]
#[event(package = "com.example.library")]
struct HappenedEvent {
    text: String,
}

#[derive(State)]
struct Book {
    happenings: u32,
}

#[evolve]
impl Book {
    fn first(_: &HappenedEvent) -> Self {
        Self { happenings: 1 }
    }
}

#[derive(Service)]
struct Rates {
    now: u32,
}

#[derive(Settings)]
struct Lending {
    /// How many days a copy is lent for.
    #[setting(default = 28)]
    loan_days: u32,
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct BorrowBookCommand {
    id: Uuid,
    reader: u32,
    r#type: String,
}

#[handler]
fn borrow(
    book: &Book,
    rates: &Rates,
    #[subject("/readers/{reader}")] reader: Option<&Book>,
    Lending { loan_days }: &Lending,
    #[subject("/shelves/{type}/{id}", recursive)] shelf: &Book,
    BorrowBookCommand { id, .. }: BorrowBookCommand,
    #[subject(recursive,)] _below: &Book,
    #[subject("/library",)] library: std::option::Option<&'_ Book>,
    clock: &Clock,
    metadata: &Metadata,
    #[subject("/rooms/{room}/{type}", room in rooms, recursive)] rooms: std::vec::Vec<
        std::option::Option<&'_ Book>,
    >,
) -> HappenedEvent {
    let states = [Some(book), reader, Some(shelf), library, rooms[0]];
    let happenings: u32 = states.iter().flatten().map(|book| book.happenings).sum();
    let text = format!(
        "{id} {happenings} {} {loan_days} {} {metadata:?}",
        rates.now,
        clock.now()
    );
    HappenedEvent { text }
}

fn rooms(command: &BorrowBookCommand) -> [u32; 1] {
    [command.reader]
}

macro_rules! handle {
    ($command:ident, $state:ident, $event:ident, $field:ident, $handler:ident) => {
        #[handler]
        fn $handler(
            command: $command,
            #[subject("/others/{id}")] other: Option<&$state>,
        ) -> $event {
            let other = other.map_or(command.$field, |other| other.$field);
            $event { other }
        }
    };
}

#[derive(Command)]
#[command(subject = "/things/{id}")]
struct ThingCommand {
    id: Uuid,
}

handle!(ThingCommand, Thing, ThingEvent, id, thing);

macro_rules! state {
    ($state:ident, $event:ident, $field:ident) => {
        #[derive(Event)]
        #[event(package = "com.example.library", subject = "/others/{other}")]
        struct $event {
            other: Uuid,
        }

        #[derive(State)]
        struct $state {
            $field: Uuid,
        }

        #[evolve]
        impl $state {
            fn happened(event: &$event) -> Self {
                Self { $field: event.other }
            }

            fn again(self, _: &HappenedEvent) -> Self {
                self
            }
        }
    };
}

state!(Thing, ThingEvent, id);
