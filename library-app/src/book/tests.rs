//! Scenarios of the commands on a copy.

use es_framework::{prelude::*, testing::given};

use super::{
    Book, BookBorrowedEvent, BookPurchasedEvent, BookRemovedEvent, BookReturnedEvent,
    borrow::{BorrowBookCommand, BorrowError, Loan},
    purchase::PurchaseBookCommand,
    remove::{RemoveBookCommand, RemoveError},
    return_book::{Receipt, ReturnBookCommand, ReturnError},
};
use crate::{
    lending::LendingRules,
    loan::{LoanClosedEvent, LoanOpenedEvent},
    reader::{Reader, ReaderRegisteredEvent},
};

const COPY: Uuid = Uuid::from_u128(1);
const READER: Uuid = Uuid::from_u128(100);
const THE_READER: &str = "/readers/00000000-0000-0000-0000-000000000064";
const LENT_ON: &str = "2026-07-01T12:00:00Z";

fn due_at() -> Timestamp {
    "2026-07-29T12:00:00Z".parse().unwrap()
}

fn purchased() -> BookPurchasedEvent {
    BookPurchasedEvent {
        id: COPY,
        isbn: "978-0261103573".into(),
        title: "The Fellowship of the Ring".into(),
        author: "J. R. R. Tolkien".into(),
        num_pages: 423,
    }
}

fn registered() -> ReaderRegisteredEvent {
    ReaderRegisteredEvent {
        id: READER,
        name: "Ada".into(),
        card: None,
    }
}

fn borrowed() -> BookBorrowedEvent {
    BookBorrowedEvent {
        id: COPY,
        reader: READER,
        due_at: due_at(),
    }
}

fn opened(book: u128) -> LoanOpenedEvent {
    LoanOpenedEvent {
        reader: READER,
        book: Uuid::from_u128(book),
        due_at: due_at(),
    }
}

fn returned(late_fee_cents: i64) -> BookReturnedEvent {
    BookReturnedEvent {
        id: COPY,
        reader: READER,
        late_fee_cents,
    }
}

fn removed() -> BookRemovedEvent {
    BookRemovedEvent {
        id: COPY,
        reason: "the spine is broken".into(),
    }
}

fn closed() -> LoanClosedEvent {
    LoanClosedEvent {
        reader: READER,
        book: COPY,
    }
}

const BORROW: BorrowBookCommand = BorrowBookCommand {
    id: COPY,
    reader: READER,
};
const RETURN: ReturnBookCommand = ReturnBookCommand { id: COPY };

fn remove() -> RemoveBookCommand {
    let BookRemovedEvent { id, reason } = removed();
    RemoveBookCommand { id, reason }
}

fn purchase() -> PurchaseBookCommand {
    let BookPurchasedEvent {
        id,
        isbn,
        title,
        author,
        num_pages,
    } = purchased();
    PurchaseBookCommand {
        id,
        isbn,
        title,
        author,
        num_pages,
    }
}

#[test]
fn a_copy_is_purchased_once() {
    given()
        .when(purchase())
        .then(purchased())
        .then_state(&Book::Available);
    given()
        .event(purchased())
        .when(purchase())
        .then_already_exists();
}

#[test]
fn the_texts_of_a_purchase_are_not_blank_and_the_pages_are_counted_from_one() {
    let blank = PurchaseBookCommand {
        isbn: " ".into(),
        title: String::new(),
        author: "\u{a0}".into(),
        num_pages: 0,
        ..purchase()
    };
    given()
        .when(blank)
        .then_invalid(["/isbn", "/isbn", "/title", "/author", "/numPages"]);
}

#[test]
fn an_isbn_has_a_digit_and_a_title_has_a_visible_character() {
    for isbn in ["-", "- -", "X"] {
        let isbn = isbn.into();
        let purchase = PurchaseBookCommand { isbn, ..purchase() };
        given().when(purchase).then_invalid(["/isbn"]);
    }
    let title = "\u{200b}".into();
    let purchase = PurchaseBookCommand {
        title,
        ..purchase()
    };
    given().when(purchase).then_invalid(["/title"]);
}

#[test]
fn a_copy_is_lent_for_28_days() {
    given()
        .event(purchased())
        .event_on(THE_READER, registered())
        .at(LENT_ON)
        .when(BORROW)
        .then((borrowed(), opened(1)))
        .then_reply(Loan { due_at: due_at() })
        .then_state(&Book::Lent {
            reader: READER,
            due_at: due_at(),
            is_reported: false,
        })
        .then_state_of(
            THE_READER,
            &Reader {
                loans: [COPY].into(),
                ..Reader::default()
            },
        );
}

#[test]
fn a_lent_copy_cannot_be_borrowed() {
    given()
        .event(purchased())
        .event(borrowed())
        .event_on(THE_READER, registered())
        .when(BORROW)
        .then_rejected(&BorrowError::CopyLent { due_at: due_at() });
}

#[test]
fn a_removed_copy_cannot_be_borrowed() {
    given()
        .event(purchased())
        .event(removed())
        .event_on(THE_READER, registered())
        .when(BORROW)
        .then_rejected(&BorrowError::CopyRemoved);
}

#[test]
fn copy_and_reader_must_be_known() {
    given()
        .event_on(THE_READER, registered())
        .when(BORROW)
        .then_not_found("/books/00000000-0000-0000-0000-000000000001");
    given()
        .event(purchased())
        .when(BORROW)
        .then_not_found(THE_READER);
}

#[test]
fn a_reader_holds_five_copies_at_the_most() {
    let holding = |copies: std::ops::Range<u128>| {
        let reader = given()
            .event(purchased())
            .event_on(THE_READER, registered())
            .at(LENT_ON);
        copies.fold(reader, |reader, copy| reader.event(opened(copy)))
    };
    holding(2..6).when(BORROW).then((borrowed(), opened(1)));
    holding(2..7)
        .when(BORROW)
        .then_rejected(&BorrowError::LoanLimitReached { limit: 5 });
    let generous = LendingRules {
        loan_limit: 6,
        loan_days: 28,
        reservation_limit: 3,
        hold_days: 7,
    };
    holding(2..7)
        .with(generous)
        .when(BORROW)
        .then((borrowed(), opened(1)));
}

#[test]
fn a_copy_that_came_back_makes_room_for_another() {
    let reader = given()
        .event(purchased())
        .event_on(THE_READER, registered())
        .at(LENT_ON);
    (1..6)
        .fold(reader, |reader, copy| reader.event(opened(copy)))
        .event(closed())
        .when(BORROW)
        .then((borrowed(), opened(1)));
}

#[test]
fn a_copy_that_comes_back_in_time_costs_nothing() {
    for time in [LENT_ON, "2026-07-29T12:00:00Z"] {
        given()
            .event(purchased())
            .event(borrowed())
            .at(time)
            .when(RETURN)
            .then((returned(0), closed()))
            .then_reply(Receipt { late_fee_cents: 0 })
            .then_state(&Book::Available);
    }
}

#[test]
fn each_started_day_past_the_due_date_costs_50_cents() {
    for (time, late_fee_cents) in [
        ("2026-07-29T12:00:00.000000001Z", 50),
        ("2026-07-30T12:00:00Z", 50),
        ("2026-07-30T12:00:01Z", 100),
        ("2026-08-08T11:00:00Z", 500),
    ] {
        given()
            .event(purchased())
            .event(borrowed())
            .at(time)
            .when(RETURN)
            .then((returned(late_fee_cents), closed()))
            .then_reply(Receipt { late_fee_cents });
    }
}

#[test]
fn only_a_lent_copy_comes_back() {
    given()
        .event(purchased())
        .when(RETURN)
        .then_rejected(&ReturnError::CopyNotLent);
    given()
        .event(purchased())
        .event(removed())
        .when(RETURN)
        .then_rejected(&ReturnError::CopyNotLent);
    given()
        .when(RETURN)
        .then_not_found("/books/00000000-0000-0000-0000-000000000001");
}

#[test]
fn a_damaged_copy_is_removed_once_and_not_while_it_is_lent() {
    given()
        .event(purchased())
        .when(remove())
        .then(removed())
        .then_state(&Book::Removed);
    given()
        .event(purchased())
        .event(borrowed())
        .when(remove())
        .then_rejected(&RemoveError::CopyLent { due_at: due_at() });
    given()
        .event(purchased())
        .event(removed())
        .when(remove())
        .then_rejected(&RemoveError::CopyRemoved);
}

#[test]
fn a_removal_has_a_reason() {
    let reason = "  ".into();
    given()
        .event(purchased())
        .when(RemoveBookCommand { id: COPY, reason })
        .then_invalid(["/reason"]);
}

fn reader(owner: Uuid) -> Caller {
    Caller::authenticated("a reader", ["reader"]).with_owner_id(&owner.to_string())
}

#[test]
fn a_reader_borrows_only_for_themselves() {
    let scenario = || {
        let past = given().event(purchased()).at(LENT_ON);
        past.event_on(THE_READER, registered())
    };
    let own = scenario().caller(reader(READER));
    own.when(BORROW).then((borrowed(), opened(1)));
    let other = scenario().caller(reader(COPY));
    other.when(BORROW).then_not_owner();
    let staff = Caller::authenticated("kim", ["staff"]);
    let for_another = scenario().caller(staff);
    for_another.when(BORROW).then((borrowed(), opened(1)));
}

#[test]
fn a_reader_returns_only_what_they_hold() {
    let lent = || given().event(purchased()).event(borrowed()).at(LENT_ON);
    let give_back = || ReturnBookCommand { id: COPY };
    let other = lent().caller(reader(COPY)).when(give_back());
    other.then_rejected(&ReturnError::LentToSomebodyElse);
    let nobody = Caller::authenticated("a reader", ["reader"]);
    let without_owner_id = lent().caller(nobody).when(give_back());
    without_owner_id.then_rejected(&ReturnError::NoOwnerId);
    let own = lent().caller(reader(READER)).when(give_back());
    own.then((returned(0), closed()));
}
