//! Scenarios of reactions with states, of time that passes, of several subjects, and of persons who are erased.

// Functions that tests share also fail by panicking.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::arithmetic_side_effects
)]

use std::{
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
};

use es_framework::{
    prelude::*,
    testing::{Scenario, given},
};

const CLUB: Uuid = Uuid::from_u128(1);
const CONTACT: Uuid = Uuid::from_u128(100);
const THE_CLUB: &str = "/clubs/00000000-0000-0000-0000-000000000001";
const THE_CONTACT: &str = "/contacts/00000000-0000-0000-0000-000000000064";
const START: &str = "2026-01-15T12:00:00Z";

#[derive(Debug, PartialEq, Event)]
struct ClubJoinedEvent {
    club: Uuid,
    contact: Uuid,
    #[personal(of = contact, erased = "former contact")]
    name: String,
}

#[derive(Debug, PartialEq, Event)]
struct ClubInvoicedEvent {
    club: Uuid,
    month: String,
    invoiced_at: Timestamp,
}

#[derive(Debug, PartialEq, Event)]
struct InvoiceRemindedEvent {
    club: Uuid,
    number: u32,
    sent_at: Timestamp,
}

#[derive(Debug, PartialEq, Event)]
struct CardPrintedEvent {
    contact: Uuid,
    #[personal(of = contact, erased = "former contact")]
    name: String,
}

/// The clubs of the hall.
#[derive(State)]
struct Clubs {
    ids: Vec<Uuid>,
}

#[evolve]
impl Clubs {
    fn joined(before: Option<Self>, event: &ClubJoinedEvent) -> Self {
        let mut ids = before.map_or_else(Vec::new, |before| before.ids);
        ids.push(event.club);
        Self { ids }
    }
}

/// The person whom a club names, and the invoices so far.
#[derive(Debug, PartialEq, State)]
struct Club {
    contact: Uuid,
    name: String,
    invoices: usize,
}

#[evolve]
impl Club {
    fn joined(event: &ClubJoinedEvent) -> Self {
        Self {
            contact: event.contact,
            name: event.name.clone(),
            invoices: 0,
        }
    }

    fn invoiced(&mut self, _: &ClubInvoicedEvent) {
        self.invoices += 1;
    }
}

#[derive(Command)]
#[command(subject = "/clubs/{club}", internal)]
struct InvoiceClubCommand {
    club: Uuid,
    month: String,
}

#[handler]
fn invoice(command: InvoiceClubCommand, clock: &Clock) -> ClubInvoicedEvent {
    let InvoiceClubCommand { club, month } = command;
    let invoiced_at = clock.now();
    ClubInvoicedEvent {
        club,
        month,
        invoiced_at,
    }
}

#[derive(Command)]
#[command(subject = "/clubs/{club}", internal)]
struct RemindClubCommand {
    club: Uuid,
    number: u32,
}

#[handler]
fn remind(command: RemindClubCommand, clock: &Clock) -> InvoiceRemindedEvent {
    let RemindClubCommand { club, number } = command;
    let sent_at = clock.now();
    InvoiceRemindedEvent {
        club,
        number,
        sent_at,
    }
}

#[derive(Command)]
#[command(subject = "/contacts/{contact}")]
struct PrintCardCommand {
    contact: Uuid,
    #[validate(text(max = 100))]
    name: String,
}

#[handler]
fn print_card(command: PrintCardCommand) -> CardPrintedEvent {
    let PrintCardCommand { contact, name } = command;
    CardPrintedEvent { contact, name }
}

/// Invoices every club each month.
struct MonthlyInvoices;

#[reaction]
impl MonthlyInvoices {
    #[schedule(cron = "0 6 1 * *")]
    fn invoice(
        time: Timestamp,
        #[subject("/clubs", recursive)] clubs: Option<&Clubs>,
    ) -> Vec<InvoiceClubCommand> {
        let month = time.strftime("%Y-%m").to_string();
        let clubs = clubs.into_iter().flat_map(|clubs| &clubs.ids);
        let invoice = |club: &Uuid| InvoiceClubCommand {
            club: *club,
            month: month.clone(),
        };
        clubs.map(invoice).collect()
    }
}

/// Reminds of an invoice three times, once a week.
struct Dunning;

#[reaction(repeats)]
impl Dunning {
    #[deadline(at = invoiced_at + 7d)]
    fn begin(event: &ClubInvoicedEvent) -> RemindClubCommand {
        let club = event.club;
        RemindClubCommand { club, number: 1 }
    }

    #[deadline(at = sent_at + 7d)]
    fn go_on(event: &InvoiceRemindedEvent) -> Option<RemindClubCommand> {
        let (club, number) = (event.club, event.number + 1);
        (number <= 3).then_some(RemindClubCommand { club, number })
    }
}

/// Sends letters.
#[derive(Default, Service)]
struct Mailer {
    letters: Arc<Mutex<Vec<String>>>,
}

/// Mails each invoice to the contact of its club.
struct InvoiceMail;

#[reaction]
impl InvoiceMail {
    async fn mail(
        event: &ClubInvoicedEvent,
        club: &Club,
        mailer: &Mailer,
    ) -> Result<(), Infallible> {
        let letter = format!(
            "{}, invoice {} of {}",
            club.name, club.invoices, event.month
        );
        mailer.letters.lock().unwrap().push(letter);
        Ok(())
    }

    fn print_card(_: &ClubInvoicedEvent, club: &Club) -> PrintCardCommand {
        let (contact, name) = (club.contact, club.name.clone());
        PrintCardCommand { contact, name }
    }
}

fn joined() -> ClubJoinedEvent {
    ClubJoinedEvent {
        club: CLUB,
        contact: CONTACT,
        name: "Ada".into(),
    }
}

fn invoiced(time: &str) -> ClubInvoicedEvent {
    ClubInvoicedEvent {
        club: CLUB,
        month: time[..7].to_owned(),
        invoiced_at: time.parse().unwrap(),
    }
}

fn reminded(number: u32, time: &str) -> InvoiceRemindedEvent {
    InvoiceRemindedEvent {
        club: CLUB,
        number,
        sent_at: time.parse().unwrap(),
    }
}

fn with_club() -> Scenario {
    given().at(START).event_on(THE_CLUB, joined())
}

/// Returns the message of a failed expectation.
fn printed(expect: impl FnOnce()) -> String {
    let failure = catch_unwind(AssertUnwindSafe(expect)).expect_err("it holds");
    *failure.downcast::<String>().unwrap()
}

#[test]
fn every_club_is_invoiced_each_month() {
    with_club()
        .advance("1440h")
        .reacts::<MonthlyInvoices>()
        .then_on(
            THE_CLUB,
            vec![
                invoiced("2026-02-01T06:00:00Z"),
                invoiced("2026-03-01T06:00:00Z"),
            ],
        );
    let nobody = given().at(START).advance("1440h");
    nobody.reacts::<MonthlyInvoices>().then_nothing();
}

#[test]
fn after_an_interruption_a_schedule_follows_its_rule_for_missed_times() {
    let late = ClubInvoicedEvent {
        month: "2026-03".into(),
        ..invoiced("2026-03-16T12:00:00Z")
    };
    let interrupted = with_club().interrupt("1440h");
    interrupted
        .reacts::<MonthlyInvoices>()
        .then_on(THE_CLUB, late);
}

#[test]
fn a_reaction_runs_until_nothing_is_due_any_more() {
    given()
        .at("2026-02-01T06:00:00Z")
        .event_on(THE_CLUB, invoiced("2026-02-01T06:00:00Z"))
        .advance("8760h")
        .reacts::<Dunning>()
        .then_sent(vec![
            RemindClubCommand {
                club: CLUB,
                number: 1,
            },
            RemindClubCommand {
                club: CLUB,
                number: 2,
            },
            RemindClubCommand {
                club: CLUB,
                number: 3,
            },
        ])
        .then_on(
            THE_CLUB,
            vec![
                reminded(1, "2026-02-08T06:00:00Z"),
                reminded(2, "2026-02-15T06:00:00Z"),
                reminded(3, "2026-02-22T06:00:00Z"),
            ],
        );
}

#[test]
fn a_call_takes_the_state_after_its_event() {
    let letters = Arc::default();
    let mailer = Mailer {
        letters: Arc::clone(&letters),
    };
    let card = CardPrintedEvent {
        contact: CONTACT,
        name: "Ada".into(),
    };
    with_club()
        .event_on(THE_CLUB, invoiced("2026-02-01T06:00:00Z"))
        .with(mailer)
        .reacts::<InvoiceMail>()
        .then_on(THE_CONTACT, card);
    assert_eq!(*letters.lock().unwrap(), ["Ada, invoice 1 of 2026-02"]);
}

/// Invoices and prints a card when a club joins.
struct Welcome;

#[reaction]
impl Welcome {
    fn welcome(event: &ClubJoinedEvent) -> (InvoiceClubCommand, PrintCardCommand) {
        let invoice = InvoiceClubCommand {
            club: event.club,
            month: "2026-01".into(),
        };
        let card = PrintCardCommand {
            contact: event.contact,
            name: event.name.clone(),
        };
        (invoice, card)
    }

    fn remind(event: &ClubInvoicedEvent) -> RemindClubCommand {
        let club = event.club;
        RemindClubCommand { club, number: 1 }
    }
}

#[test]
fn several_expectations_of_subjects_add_up() {
    let card = || CardPrintedEvent {
        contact: CONTACT,
        name: "Ada".into(),
    };
    let welcomed = || with_club().reacts::<Welcome>();
    welcomed()
        .then_on(THE_CONTACT, card())
        .then_on(THE_CLUB, invoiced(START))
        .then_on("/clubs", ())
        .then_on(THE_CLUB, reminded(1, START));
    welcomed()
        .then_on(THE_CLUB, (invoiced(START), reminded(1, START)))
        .then_on(THE_CONTACT, card());
    let text = printed(|| drop(welcomed().then_on(THE_CLUB, reminded(1, START))));
    assert!(text.starts_with("a difference in the events ("), "{text}");
    let text = printed(|| drop(welcomed().then_on(THE_CLUB, ())));
    assert!(text.contains("+   \"subject\": \"/clubs/"), "{text}");
}

#[test]
fn an_event_that_no_expectation_names_fails_the_test_at_its_end() {
    let text = printed(|| {
        let invoiced = with_club()
            .reacts::<Welcome>()
            .then_on(THE_CLUB, invoiced(START));
        drop(invoiced.then_sent((
            InvoiceClubCommand {
                club: CLUB,
                month: "2026-01".into(),
            },
            PrintCardCommand {
                contact: CONTACT,
                name: "Ada".into(),
            },
            RemindClubCommand {
                club: CLUB,
                number: 1,
            },
        )));
    });
    let place = format!(
        "a difference in the events that no `then_on` up to {}:",
        file!()
    );
    assert!(text.starts_with(&place), "{text}");
    assert!(text.contains("+   \"subject\": \"/contacts/"), "{text}");
    assert!(text.contains("InvoiceRemindedEvent"), "{text}");
    assert!(!text.contains("ClubInvoicedEvent"), "{text}");
}

#[test]
fn the_events_of_an_erased_person_read_as_their_replacements() {
    let letters = Arc::default();
    let mailer = Mailer {
        letters: Arc::clone(&letters),
    };
    let name = || "former contact".to_owned();
    let card = CardPrintedEvent {
        contact: CONTACT,
        name: name(),
    };
    let print = |name: &str| PrintCardCommand {
        contact: CONTACT,
        name: name.into(),
    };
    let erased = || with_club().erased(THE_CONTACT);
    erased()
        .event_on(THE_CLUB, invoiced("2026-02-01T06:00:00Z"))
        .with(mailer)
        .reacts::<InvoiceMail>()
        .then_sent(print("former contact"))
        .then_on(THE_CONTACT, card);
    let expected = ["former contact, invoice 1 of 2026-02"];
    assert_eq!(*letters.lock().unwrap(), expected);
    // Only what is stored after the erasure is refused.
    let stored = given().event_on(THE_CLUB, joined());
    stored.when(print("Ada")).then_accepted();
    let message = format!("the personal data of {CONTACT} is erased, and no more of it is stored");
    erased()
        .when(print("Ada"))
        .then_problem("erased-person", &message);
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "members", subject = "/clubs/{club}")]
struct Member {
    #[key]
    club: Uuid,
    name: String,
}

#[projection]
impl Member {
    fn joined(event: ClubJoinedEvent) -> Self {
        let ClubJoinedEvent { club, name, .. } = event;
        Self { club, name }
    }
}

#[test]
fn the_rows_of_an_erased_person_hold_the_replacements() {
    let names = |scenario: Scenario| -> Vec<_> {
        let rows = scenario.rows::<Member>();
        rows.into_iter().map(|member| member.name).collect()
    };
    assert_eq!(names(with_club()), ["Ada"]);
    assert_eq!(names(with_club().erased(THE_CONTACT)), ["former contact"]);
}

#[test]
fn an_impossible_erasure_says_why() {
    let erase = |subject: &str| {
        let scenario = with_club().erased(subject);
        printed(|| drop(scenario.rows::<Member>()))
    };
    let expected = format!(
        "a past erasure is impossible: no event holds personal data of the id in {THE_CLUB}; the events on this subject hold personal data of {CONTACT}: write a subject that ends with such an id"
    );
    assert_eq!(erase(THE_CLUB), expected);
    assert!(erase("/clubs").starts_with("/clubs does not end with the id of a person"));
    let again = with_club().erased(THE_CONTACT).event_on(THE_CLUB, joined());
    let text = printed(|| drop(again.rows::<Member>()));
    let expected = format!("the personal data of {CONTACT} is erased");
    assert!(text.starts_with(&expected), "{text}");
}
