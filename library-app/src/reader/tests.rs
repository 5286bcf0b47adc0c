//! Scenarios of the commands on a reader.

use es_framework::{prelude::*, testing::given};

use super::{
    Reader,
    find::{FindReader, RegisteredReader},
    register::{ReaderRegisteredEvent, RegisterReaderCommand},
};

fn register(name: &str) -> RegisterReaderCommand {
    RegisterReaderCommand {
        id: Uuid::nil(),
        name: name.into(),
        card: None,
    }
}

fn registered() -> ReaderRegisteredEvent {
    let RegisterReaderCommand { id, name, card } = register("Ada");
    ReaderRegisteredEvent { id, name, card }
}

#[test]
fn a_reader_is_registered_once_and_holds_nothing() {
    given()
        .when(register("Ada"))
        .then(registered())
        .then_state(&Reader::default());
    given()
        .event(registered())
        .when(register("Eve"))
        .then_already_exists();
}

#[test]
fn a_reader_has_a_name() {
    for blank in [" ", "\u{200b}"] {
        given().when(register(blank)).then_invalid(["/name"]);
    }
}

#[test]
fn two_readers_never_have_the_same_card() {
    let with_card = |number: &str| ReaderRegisteredEvent {
        card: Some(number.into()),
        ..registered()
    };
    let register_eve = |number: &str| RegisterReaderCommand {
        id: Uuid::from_u128(1),
        card: Some(number.into()),
        ..register("Eve")
    };
    let ada = format!("/readers/{}", registered().id);
    for same in ["AB-7", " ab-7 ", "ＡＢ-７"] {
        given()
            .event_on(&ada, with_card("AB-7"))
            .when(register_eve(same))
            .then_not_unique("reader-card");
    }
    given()
        .event_on(&ada, with_card("AB-7"))
        .when(register_eve("AB-8"))
        .then_accepted();
    given()
        .event_on(&ada, registered())
        .when(register("Eve"))
        .then_already_exists();
}

#[test]
fn a_registered_reader_is_found() {
    let ReaderRegisteredEvent { id, name, .. } = registered();
    let history = given().event_on(&format!("/readers/{id}"), registered());
    let found = history.query(FindReader { id });
    assert_eq!(found.unwrap(), RegisteredReader { id, name });
}
