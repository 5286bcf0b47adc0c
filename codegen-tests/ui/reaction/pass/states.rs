//! States of the event's own subject and of another one, that may be missing or include the subjects below.

use es_framework::{prelude::*, reaction::React};

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookBorrowedEvent {
    id: Uuid,
    reader: Uuid,
}

#[derive(Command)]
#[command(subject = "/books/{id}", internal)]
struct RemindReaderCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReaderRemindedEvent {}

#[handler]
fn remind(_: RemindReaderCommand) -> ReaderRemindedEvent {
    ReaderRemindedEvent {}
}

#[derive(State)]
struct Loans {
    count: u32,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReaderRegisteredEvent {}

#[evolve]
impl Loans {
    fn registered(_: &ReaderRegisteredEvent) -> Self {
        Self { count: 0 }
    }

    fn borrowed(&mut self, _: &BookBorrowedEvent) {
        self.count += 1;
    }
}

struct LoanReminder;

#[reaction(name = "ReminderWithStates")]
impl LoanReminder {
    fn remind(
        event: &BookBorrowedEvent,
        loans: &Loans,
        #[subject("/readers/{reader}", recursive)] of_reader: Option<&Loans>,
    ) -> Option<RemindReaderCommand> {
        let of_reader = of_reader.map_or(0, |loans| loans.count);
        (loans.count > of_reader).then_some(RemindReaderCommand { id: event.id })
    }
}

#[test]
fn the_states_are_described() {
    let [own, of_reader] = LoanReminder::STEPS[0].parameters else {
        panic!("they are two")
    };
    assert_eq!((own.name, own.subject, own.recursive), ("loans", None, false));
    let shown = (of_reader.name, of_reader.subject, of_reader.recursive);
    assert_eq!(shown, ("of_reader", Some("/readers/{reader}"), true));
}
