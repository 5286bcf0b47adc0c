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
    }
}

fn registered() -> ReaderRegisteredEvent {
    let RegisterReaderCommand { id, name } = register("Ada");
    ReaderRegisteredEvent { id, name }
}

#[test]
fn a_reader_is_registered_once_and_holds_nothing() {
    given()
        .when(register("Ada"))
        .then(registered())
        .then_state(&Reader { loans: [].into() });
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
fn a_registered_reader_is_found() {
    let ReaderRegisteredEvent { id, name } = registered();
    let history = given().event_on(&format!("/readers/{id}"), registered());
    let found = history.query(FindReader { id });
    assert_eq!(found.unwrap(), RegisteredReader { id, name });
}
