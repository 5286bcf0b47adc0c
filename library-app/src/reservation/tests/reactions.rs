//! Scenarios of copies that come back and are not fetched.

use super::*;
use crate::reservation::{
    ReservationError,
    hold::CopyHolder,
    lapse::{HoldTimer, LetHoldLapseCommand},
    reserve::ReserveTitleCommand,
};

#[test]
fn an_isbn_without_letters_and_digits_is_no_title() {
    let past = || {
        let purchased = BookPurchasedEvent {
            id: COPY,
            isbn: "-".into(),
            title: "The Hobbit".into(),
            author: "J. R. R. Tolkien".into(),
            num_pages: 310,
        };
        let past = library().event_on(&on_copy(COPY), purchased);
        past.event_on(&on_copy(COPY), borrowed(COPY, ADA))
    };
    past()
        .when(ReserveTitleCommand {
            id: COPY,
            reader: BOB,
        })
        .then_rejected(&ReservationError::NoTitle);
    past()
        .event_on(&on_copy(COPY), returned())
        .reacts::<CopyHolder>()
        .then_nothing();
}

#[test]
fn a_copy_that_comes_back_is_set_aside_for_the_first_who_waits() {
    with_queue(&[BOB, EVE])
        .event_on(&on_copy(COPY), returned())
        .reacts::<CopyHolder>()
        .then_sent(hold())
        .then_on(&on_copy(COPY), held(BOB));
}

#[test]
fn a_copy_for_which_nobody_waits_is_available() {
    library()
        .event_on(&on_copy(COPY), returned())
        .reacts::<CopyHolder>()
        .then_sent(hold())
        .then_on(&on_copy(COPY), ());
    // A reader was faster than the reaction.
    with_queue(&[BOB]).when(hold()).then(());
    // The copy is set aside already.
    set_aside().when(hold()).then(());
}

#[test]
fn a_copy_that_its_reader_does_not_want_goes_to_the_next_one() {
    let (end, closed, put_back) = ended(BOB, EndReason::Cancelled, true);
    let cancelled = set_aside().event(end).event(closed);
    cancelled
        .event(put_back.unwrap())
        .reacts::<CopyHolder>()
        .then_sent((hold(), hold()))
        .then_on(&on_copy(COPY), held(EVE));
}

#[test]
fn a_copy_that_nobody_fetches_in_time_is_put_back() {
    let lapse = LetHoldLapseCommand {
        id: COPY,
        until: time(UNTIL),
    };
    set_aside()
        .at(UNTIL)
        .reacts::<HoldTimer>()
        .then_sent(lapse)
        .then_on(&on_copy(COPY), ended(BOB, EndReason::Lapsed, true));
    set_aside()
        .at("2026-07-08T11:59:59Z")
        .reacts::<HoldTimer>()
        .then_nothing();
    set_aside()
        .event_on(&on_copy(COPY), borrowed(COPY, BOB))
        .at(UNTIL)
        .reacts::<HoldTimer>()
        .then_nothing();
}

#[test]
fn a_hold_that_is_over_does_not_end_the_one_after_it() {
    let until = time("2026-07-08T11:00:00Z");
    set_aside()
        .when(LetHoldLapseCommand { id: COPY, until })
        .then(());
}
