//! Scenarios of the commands on a reader.

use es_framework::{prelude::*, testing::given};

use super::{
    Reader,
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
    given().when(register(" ")).then_invalid(["/name"]);
}
