//! Scenarios of queues, reservations and fetch lists as readers and staff see them.

use super::*;
use crate::reservation::{
    fetch_list::{
        CopyToFetch, FetchList, FetchListSchedule, FetchListWrittenEvent, ShowFetchList,
        WriteFetchListCommand,
    },
    queue::{QueuedReservation, ShowQueue},
    reader_reservations::{Reservation, ReservationsOfReader},
};

fn to_fetch() -> CopyToFetch {
    CopyToFetch {
        title: TITLE.into(),
        copy: COPY,
        until: time(UNTIL),
    }
}

fn list_of(day: &str) -> FetchListWrittenEvent {
    let day = day.to_owned();
    FetchListWrittenEvent {
        day,
        copies: vec![to_fetch()],
    }
}

#[test]
fn staff_see_the_queue_and_readers_their_reservations() {
    let queue = set_aside().query(ShowQueue {
        isbn: "0-261-10357-X".into(),
    });
    let queue = queue.unwrap();
    let until = time(UNTIL);
    let queued = |reader, copy, until| QueuedReservation {
        reader,
        copy,
        until,
    };
    let expected = [
        queued(BOB, Some(COPY), Some(until)),
        queued(EVE, None, None),
    ];
    assert_eq!(queue.reservations, expected);
    let of = |reader| set_aside().query(ReservationsOfReader { reader }).unwrap();
    let reservation = |copy, until| Reservation {
        title: TITLE.into(),
        copy,
        until,
    };
    assert_eq!(of(BOB), [reservation(Some(COPY), Some(until))]);
    assert_eq!(of(EVE), [reservation(None, None)]);
    assert_eq!(of(ADA), []);
}

#[test]
fn each_morning_the_copies_that_were_set_aside_are_on_the_list_once() {
    let write = |day: &str| WriteFetchListCommand { day: day.into() };
    set_aside()
        .advance("24h")
        .advance("24h")
        .reacts::<FetchListSchedule>()
        .then_sent((write("2026-07-02"), write("2026-07-03")))
        .then_on("/fetch-lists/2026-07-02", list_of("2026-07-02"));
    let list = set_aside().event(list_of("2026-07-02"));
    let day = "2026-07-02".to_owned();
    let shown = list.query(ShowFetchList { day: day.clone() }).unwrap();
    assert_eq!(
        shown,
        FetchList {
            day,
            copies: vec![to_fetch()]
        }
    );
}

#[test]
fn a_copy_that_is_no_longer_set_aside_is_on_no_list() {
    let write = WriteFetchListCommand {
        day: "2026-07-02".into(),
    };
    let (end, closed, _) = ended(BOB, EndReason::Borrowed, false);
    let past = set_aside().event(end).event(closed);
    past.at("2026-07-02T04:00:00Z").when(write).then(());
}

#[test]
fn the_list_of_a_day_without_service_is_left_to_the_next_morning() {
    let write = |day: &str| WriteFetchListCommand { day: day.into() };
    let late = |time| set_aside().at(time).when(write("2026-07-02"));
    late("2026-07-02T15:00:00Z").then(list_of("2026-07-02"));
    late("2026-07-03T03:30:00Z").then(());
    let next = set_aside().at("2026-07-03T04:00:00Z");
    next.when(write("2026-07-03")).then(list_of("2026-07-03"));
}

#[test]
fn a_copy_that_is_set_aside_again_is_on_the_next_list_again() {
    let write = WriteFetchListCommand {
        day: "2026-07-09".into(),
    };
    let (end, closed, _) = ended(BOB, EndReason::Lapsed, true);
    let until = time("2026-07-15T12:00:00Z");
    let (again, _, _) = held(EVE);
    let copies = vec![CopyToFetch {
        until,
        ..to_fetch()
    }];
    set_aside()
        .event(list_of("2026-07-02"))
        .event(end)
        .event(closed)
        .event(CopyHeldEvent { until, ..again })
        .at("2026-07-09T04:00:00Z")
        .when(write)
        .then(FetchListWrittenEvent {
            day: "2026-07-09".into(),
            copies,
        });
}
