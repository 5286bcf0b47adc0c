//! States of the event's own subject and of another one, that may be missing or include the subjects below: in functions
//! that send commands, in calls, and at the times of a schedule.

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

struct LoanPrinter;

#[reaction(name = "PrinterWithStates")]
impl LoanPrinter {
    async fn print(
        event: &BookBorrowedEvent,
        recorded: &RecordedEvent,
        loans: &Loans,
        clock: &Clock,
        #[subject(recursive)] below: &Loans,
        #[subject("/readers/{reader}")] of_reader: Option<&Loans>,
        key: &ReactionKey,
    ) -> Result<(), std::io::Error> {
        let of_reader = of_reader.map_or(0, |loans| loans.count);
        let (id, now, counts) = (event.id, clock.now(), [loans.count, below.count, of_reader]);
        println!("{id} {} {now} {counts:?} {key}", recorded.id);
        Ok(())
    }

    #[schedule(cron = "@monthly")]
    fn remind(
        #[subject("/readers", recursive)] loans: &Loans,
        #[subject("/")] none: Option<&Loans>,
    ) -> Vec<RemindReaderCommand> {
        let count = none.map_or(0, |none| none.count) + loans.count;
        (0..count).map(|id| RemindReaderCommand { id: Uuid::from_u128(id.into()) }).collect()
    }

    #[schedule(cron = "@monthly")]
    async fn print_all(
        time: Timestamp,
        #[subject("/readers", recursive)] loans: &Loans,
        clock: &Clock,
    ) -> Result<(), std::io::Error> {
        println!("{time} {} {}", clock.now(), loans.count);
        Ok(())
    }
}

#[test]
fn the_states_of_calls_and_schedules_are_described() {
    let described: Vec<_> = LoanPrinter::STEPS
        .iter()
        .flat_map(|step| step.parameters)
        .map(|parameter| (parameter.name, parameter.subject, parameter.recursive))
        .collect();
    let expected = [
        ("loans", None, false),
        ("clock", None, false),
        ("below", None, true),
        ("of_reader", Some("/readers/{reader}"), false),
        ("loans", Some("/readers"), true),
        ("none", Some("/"), false),
        ("loans", Some("/readers"), true),
        ("clock", None, false),
    ];
    assert_eq!(described, expected);
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
