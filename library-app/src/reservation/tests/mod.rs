//! The library of the scenarios of reservations, and the events in it.

mod commands;
mod lists;
mod reactions;

use es_framework::{
    prelude::*,
    testing::{Scenario, given},
};

use super::{
    CopyHeldEvent, CopyPutBackEvent, CopySetAsideEvent, EndReason, EndedReservation,
    ReservationClosedEvent, ReservationEndedEvent, ReservationOpenedEvent, ReservationReadyEvent,
    TitleReservedEvent, hold::HoldCopyCommand,
};
use crate::{
    book::{BookBorrowedEvent, BookPurchasedEvent, BookReturnedEvent},
    reader::ReaderRegisteredEvent,
};

const COPY: Uuid = Uuid::from_u128(1);
const OTHER_COPY: Uuid = Uuid::from_u128(2);
const ADA: Uuid = Uuid::from_u128(100);
const BOB: Uuid = Uuid::from_u128(101);
const EVE: Uuid = Uuid::from_u128(102);
const TITLE: &str = "026110357X";
const RETURNED_ON: &str = "2026-07-01T12:00:00Z";
const UNTIL: &str = "2026-07-08T12:00:00Z";
const DUE: &str = "2026-07-29T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn on_copy(copy: Uuid) -> String {
    format!("/books/{copy}")
}

/// Two copies of a title, of which Ada has borrowed one, and three readers.
fn library() -> Scenario {
    let purchased = |id, isbn: &str| BookPurchasedEvent {
        id,
        isbn: isbn.into(),
        title: "The Fellowship of the Ring".into(),
        author: "J. R. R. Tolkien".into(),
        num_pages: 423,
    };
    let registered = |id| ReaderRegisteredEvent {
        id,
        name: "a reader".into(),
        card: None,
    };
    let past = given()
        .event_on(&on_copy(COPY), purchased(COPY, "0-261-10357-X"))
        .event_on(&on_copy(OTHER_COPY), purchased(OTHER_COPY, "026110357x"));
    let past = [ADA, BOB, EVE].into_iter().fold(past, |past, id| {
        past.event_on(&format!("/readers/{id}"), registered(id))
    });
    past.event_on(&on_copy(COPY), borrowed(COPY, ADA))
        .at(RETURNED_ON)
}

fn borrowed(id: Uuid, reader: Uuid) -> BookBorrowedEvent {
    let due_at = time(DUE);
    BookBorrowedEvent { id, reader, due_at }
}

fn returned() -> BookReturnedEvent {
    BookReturnedEvent {
        id: COPY,
        reader: ADA,
        late_fee_cents: 0,
    }
}

fn reserved(reader: Uuid) -> (TitleReservedEvent, ReservationOpenedEvent) {
    let title = || TITLE.to_owned();
    let waits = TitleReservedEvent {
        title: title(),
        reader,
    };
    (waits, opened(reader, TITLE))
}

fn opened(reader: Uuid, title: &str) -> ReservationOpenedEvent {
    let title = title.to_owned();
    ReservationOpenedEvent { reader, title }
}

fn held(reader: Uuid) -> (CopyHeldEvent, CopySetAsideEvent, ReservationReadyEvent) {
    let (title, copy, until) = (TITLE.to_owned(), COPY, time(UNTIL));
    let held = CopyHeldEvent {
        title: title.clone(),
        reader,
        copy,
        until,
    };
    let aside = CopySetAsideEvent {
        id: copy,
        reader,
        until,
    };
    let ready = ReservationReadyEvent {
        reader,
        title,
        copy,
        until,
    };
    (held, aside, ready)
}

fn ended(reader: Uuid, reason: EndReason, put_back: bool) -> EndedReservation {
    let title = TITLE.to_owned();
    let ended = ReservationEndedEvent {
        title: title.clone(),
        reader,
        reason,
    };
    let put_back = put_back.then_some(CopyPutBackEvent { id: COPY, reader });
    (ended, ReservationClosedEvent { reader, title }, put_back)
}

fn with_queue(readers: &[Uuid]) -> Scenario {
    readers.iter().fold(library(), |past, reader| {
        let (waits, opened) = reserved(*reader);
        past.event(waits).event(opened)
    })
}

/// Bob and Eve wait, and the copy that came back is set aside for Bob.
fn set_aside() -> Scenario {
    let (held, aside, ready) = held(BOB);
    let past = with_queue(&[BOB, EVE]).event_on(&on_copy(COPY), returned());
    past.event(held).event(aside).event(ready)
}

fn hold() -> HoldCopyCommand {
    let title = TITLE.to_owned();
    HoldCopyCommand { id: COPY, title }
}
