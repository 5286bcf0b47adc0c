//! Scenarios of the commands of readers and staff.

use super::*;
use crate::{
    book::{BookRemovedEvent, BorrowBookCommand, BorrowError, RemoveBookCommand},
    loan::LoanOpenedEvent,
    reservation::{
        HoldWithdrawnEvent, ReservationError,
        cancel::{CancelReservationCommand, CancellationError},
        queue::{QueuedReservation, ShowQueue},
        reserve::ReserveTitleCommand,
    },
};

const fn reserve(reader: Uuid) -> ReserveTitleCommand {
    ReserveTitleCommand { id: COPY, reader }
}

fn cancel(isbn: &str) -> CancelReservationCommand {
    let isbn = isbn.to_owned();
    CancelReservationCommand { reader: BOB, isbn }
}

#[test]
fn a_reader_reserves_the_title_of_a_lent_copy() {
    library().when(reserve(BOB)).then(reserved(BOB));
    set_aside().when(reserve(ADA)).then(reserved(ADA));
}

#[test]
fn a_title_is_reserved_only_if_the_copy_is_away() {
    let available = library().event_on(&on_copy(COPY), returned());
    available
        .when(reserve(BOB))
        .then_rejected(&ReservationError::CopyAvailable);
    let removed = BookRemovedEvent {
        id: COPY,
        reason: "It is wet.".into(),
    };
    library()
        .event_on(&on_copy(COPY), removed)
        .when(reserve(BOB))
        .then_rejected(&ReservationError::CopyRemoved);
    library()
        .when(reserve(ADA))
        .then_rejected(&ReservationError::CopyLentToReader);
    library()
        .when(reserve(COPY))
        .then_not_found(&format!("/readers/{COPY}"));
}

#[test]
fn a_reader_reserves_a_title_once_and_three_titles_at_the_most() {
    with_queue(&[BOB])
        .when(reserve(BOB))
        .then_rejected(&ReservationError::TitleReserved);
    set_aside()
        .when(reserve(BOB))
        .then_rejected(&ReservationError::TitleReserved);
    let with = |titles: &[&str]| {
        titles
            .iter()
            .fold(library(), |past, title| past.event(opened(BOB, title)))
    };
    with(&["A1", "B2"]).when(reserve(BOB)).then(reserved(BOB));
    with(&["A1", "B2", "C3"])
        .when(reserve(BOB))
        .then_rejected(&ReservationError::ReservationLimitReached { limit: 3 });
}

#[test]
fn readers_reserve_and_cancel_for_themselves() {
    let bob = || Caller::authenticated("bob", ["reader"]).with_owner_id(&BOB.to_string());
    library()
        .caller(bob())
        .when(reserve(BOB))
        .then(reserved(BOB));
    library().caller(bob()).when(reserve(EVE)).then_not_owner();
    let eve = Caller::authenticated("eve", ["reader"]).with_owner_id(&EVE.to_string());
    let foreign = with_queue(&[BOB]).caller(eve);
    foreign.when(cancel(TITLE)).then_not_owner();
    let staff = Caller::authenticated("kim", ["staff"]);
    library()
        .caller(staff)
        .when(reserve(EVE))
        .then(reserved(EVE));
}

#[test]
fn a_copy_that_is_set_aside_is_lent_to_its_reader_and_ends_the_reservation() {
    let borrow = |reader| BorrowBookCommand { id: COPY, reader };
    let loan = LoanOpenedEvent::new(BOB, COPY, time(DUE));
    set_aside().when(borrow(BOB)).then((
        borrowed(COPY, BOB),
        loan,
        ended(BOB, EndReason::Borrowed, false),
    ));
    set_aside()
        .when(borrow(EVE))
        .then_rejected(&BorrowError::CopySetAside);
}

#[test]
fn a_reader_who_borrows_another_copy_leaves_the_one_that_is_set_aside() {
    let borrow = |reader| BorrowBookCommand {
        id: OTHER_COPY,
        reader,
    };
    let loan = |reader| LoanOpenedEvent::new(reader, OTHER_COPY, time(DUE));
    set_aside().when(borrow(BOB)).then((
        borrowed(OTHER_COPY, BOB),
        loan(BOB),
        ended(BOB, EndReason::Borrowed, true),
    ));
    // Eve waits, and no copy is set aside for her.
    set_aside().when(borrow(EVE)).then((
        borrowed(OTHER_COPY, EVE),
        loan(EVE),
        ended(EVE, EndReason::Borrowed, false),
    ));
}

#[test]
fn a_reservation_is_cancelled_by_any_spelling_of_the_isbn() {
    with_queue(&[BOB])
        .when(cancel("0-261-10357-x"))
        .then(ended(BOB, EndReason::Cancelled, false));
    set_aside()
        .when(cancel(TITLE))
        .then(ended(BOB, EndReason::Cancelled, true));
    library()
        .when(cancel(TITLE))
        .then_rejected(&CancellationError::TitleNotReserved);
}

#[test]
fn the_reader_of_a_copy_that_is_removed_waits_in_the_old_place() {
    let reason = || "It is wet.".to_owned();
    let removed = BookRemovedEvent {
        id: COPY,
        reason: reason(),
    };
    let withdrawn = || HoldWithdrawnEvent {
        title: TITLE.into(),
        reader: BOB,
        copy: COPY,
    };
    set_aside()
        .when(RemoveBookCommand {
            id: COPY,
            reason: reason(),
        })
        .then((removed, withdrawn(), opened(BOB, TITLE)));
    let other_copy_is_back = BookReturnedEvent {
        id: OTHER_COPY,
        ..returned()
    };
    let hold_other = HoldCopyCommand {
        id: OTHER_COPY,
        ..hold()
    };
    let past = set_aside()
        .event(withdrawn())
        .event_on(&on_copy(OTHER_COPY), other_copy_is_back);
    let queue = past.query(ShowQueue { isbn: TITLE.into() }).unwrap();
    let waits = |reader| QueuedReservation {
        reader,
        copy: None,
        until: None,
    };
    assert_eq!(queue.reservations, [waits(BOB), waits(EVE)]);
    let past = set_aside().event(withdrawn());
    let (held, aside, ready) = held(BOB);
    past.when(hold_other).then((
        CopyHeldEvent {
            copy: OTHER_COPY,
            ..held
        },
        CopySetAsideEvent {
            id: OTHER_COPY,
            ..aside
        },
        ReservationReadyEvent {
            copy: OTHER_COPY,
            ..ready
        },
    ));
}

#[test]
fn two_readers_whose_copies_are_removed_wait_in_the_order_in_which_they_came() {
    let withdrawn = |reader, copy| HoldWithdrawnEvent {
        title: TITLE.into(),
        reader,
        copy,
    };
    let past = || {
        with_queue(&[BOB, EVE])
            .event_on(&on_copy(COPY), returned())
            .event(held(BOB).0)
            .event(CopyHeldEvent {
                copy: OTHER_COPY,
                ..held(EVE).0
            })
            .event(withdrawn(BOB, COPY))
            .event(withdrawn(EVE, OTHER_COPY))
    };
    let queue = past().query(ShowQueue { isbn: TITLE.into() }).unwrap();
    let readers = queue.reservations.iter().map(|one| one.reader);
    assert_eq!(readers.collect::<Vec<_>>(), [BOB, EVE]);
    past().when(hold()).then(held(BOB));
}
