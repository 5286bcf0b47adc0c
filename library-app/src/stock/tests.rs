//! The rows of the stock after given events.

use es_framework::{
    prelude::*,
    testing::{Scenario, given},
};

use super::{
    browse::BrowseStock,
    catalog::{BrowseCatalog, Title},
    copy::{BookCopy, CopyStatus},
    find::FindCopy,
};
use crate::book::{BookBorrowedEvent, BookPurchasedEvent, BookRemovedEvent, BookReturnedEvent};

const COPY: Uuid = Uuid::from_u128(1);
const READER: Uuid = Uuid::from_u128(100);

fn subject() -> String {
    format!("/books/{COPY}")
}

fn purchased() -> Scenario {
    let event = BookPurchasedEvent {
        id: COPY,
        isbn: "978-0261103573".into(),
        title: "The Fellowship of the Ring".into(),
        author: "J. R. R. Tolkien".into(),
        num_pages: 423,
    };
    given().event_on(&subject(), event)
}

fn borrowed() -> Scenario {
    let event = BookBorrowedEvent {
        id: COPY,
        reader: READER,
        due_at: due_at(),
    };
    purchased().event_on(&subject(), event)
}

fn due_at() -> Timestamp {
    "2026-07-29T12:00:00Z".parse().unwrap()
}

fn on_the_shelf() -> BookCopy {
    BookCopy {
        id: COPY,
        isbn: "978-0261103573".into(),
        title: "The Fellowship of the Ring".into(),
        author: "J. R. R. Tolkien".into(),
        num_pages: 423,
        status: CopyStatus::Available,
        due_at: None,
        reader: None,
    }
}

#[test]
fn a_purchased_copy_is_available() {
    assert_eq!(purchased().rows::<BookCopy>(), [on_the_shelf()]);
}

#[test]
fn a_lent_copy_shows_its_reader_and_its_date() {
    let lent = BookCopy {
        status: CopyStatus::Lent,
        due_at: Some(due_at()),
        reader: Some(READER),
        ..on_the_shelf()
    };
    assert_eq!(borrowed().query(FindCopy { id: COPY }).unwrap(), lent);
}

#[test]
fn a_reader_sees_until_when_a_copy_is_lent_and_not_to_whom() {
    let reader = Caller::authenticated("ada", ["reader"]).with_owner_id(&READER.to_string());
    let lent = borrowed().caller(reader).query(FindCopy { id: COPY });
    let lent = lent.unwrap();
    assert_eq!((lent.due_at, lent.reader), (Some(due_at()), None));
    let staff = Caller::authenticated("kim", ["staff"]);
    let lent = borrowed().caller(staff).query(FindCopy { id: COPY });
    assert_eq!(lent.unwrap().reader, Some(READER));
}

#[test]
fn a_returned_copy_is_as_it_was() {
    let event = BookReturnedEvent {
        id: COPY,
        reader: READER,
        late_fee_cents: 0,
    };
    let returned = borrowed().event_on(&subject(), event);
    assert_eq!(returned.rows::<BookCopy>(), [on_the_shelf()]);
}

#[test]
fn a_removed_copy_is_found_as_removed_alone() {
    let removed = || {
        let reason = "torn".to_owned();
        let event = BookRemovedEvent { id: COPY, reason };
        purchased().event_on(&subject(), event)
    };
    let browse = |status| BrowseStock {
        isbn: None,
        title: Some("RING".into()),
        author: None,
        status: Some(status),
    };
    let found = removed().query(browse(CopyStatus::Removed)).unwrap();
    assert_eq!(found.items.len(), 1);
    let found = removed().query(browse(CopyStatus::Available)).unwrap();
    assert!(found.items.is_empty());
}

#[test]
fn a_copy_that_nobody_purchased_is_not_found() {
    let found = given().query(FindCopy { id: COPY });
    assert!(matches!(found, Err(QueryError::NotFound)));
}

#[test]
fn two_spellings_of_an_isbn_are_one_title_of_the_catalog() {
    let other = Uuid::from_u128(2);
    let event = BookPurchasedEvent {
        id: other,
        isbn: "9780261103573".into(),
        title: "The Fellowship of the Ring".into(),
        author: "J. R. R. Tolkien".into(),
        num_pages: 423,
    };
    let stock = purchased().event_on(&format!("/books/{other}"), event);
    let catalog = BrowseCatalog {
        isbn: Some("9780261103573".into()),
        title: None,
        author: None,
    };
    let titles = stock.query(catalog).unwrap().items;
    let [title] = &titles[..] else {
        panic!("{titles:?}");
    };
    assert_eq!(title.isbn, "978-0261103573");
    assert_eq!(title.available, [COPY, other]);
    assert_eq!(title.total, 2);
}

#[test]
fn the_catalog_counts_copies_that_are_lent_but_does_not_offer_them() {
    let catalog = BrowseCatalog {
        isbn: None,
        title: None,
        author: Some("tolkien".into()),
    };
    let title = Title {
        isbn: "978-0261103573".into(),
        title: "The Fellowship of the Ring".into(),
        author: "J. R. R. Tolkien".into(),
        available: vec![],
        total: 1,
    };
    assert_eq!(borrowed().query(catalog).unwrap().items, [title]);
}
