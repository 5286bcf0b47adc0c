//! Dry runs of the console, copied as tests. A test of the service compares them with the code that the console shows.

/// A dry run of the console as of event 1.
/// The handler takes `LendingRules`: add `.with(…)` for values other than the defaults.
#[test]
fn borrow_book_is_accepted() {
    es_framework::testing::given()
        .at("2026-07-01T12:00:00Z")
        .event_json(
            "/readers/00000000-0000-0000-0000-000000000064",
            "com.example.library.ReaderRegisteredEvent",
            r#"{"id":"00000000-0000-0000-0000-000000000064","name":"erased reader","card":null}"#,
        )
        .event_json(
            "/books/00000000-0000-0000-0000-000000000001",
            "com.example.library.BookPurchasedEvent",
            r#"{"id":"00000000-0000-0000-0000-000000000001","isbn":"978-0-345-53943-1","title":"The Lord of the Rings","author":"J. R. R. Tolkien","numPages":1178}"#,
        )
        .when_json(
            "BorrowBookCommand",
            r#"{"id":"00000000-0000-0000-0000-000000000001","reader":"00000000-0000-0000-0000-000000000064"}"#,
        )
        .then_json([
            (
                "/books/00000000-0000-0000-0000-000000000001",
                "com.example.library.BookBorrowedEvent",
                r#"{"id":"00000000-0000-0000-0000-000000000001","reader":"00000000-0000-0000-0000-000000000064","dueAt":"2026-07-29T12:00:00Z"}"#,
            ),
            (
                "/readers/00000000-0000-0000-0000-000000000064",
                "com.example.library.LoanOpenedEvent",
                r#"{"reader":"00000000-0000-0000-0000-000000000064","book":"00000000-0000-0000-0000-000000000001","dueAt":"2026-07-29T12:00:00Z"}"#,
            ),
        ])
        .then_reply_json(r#"{"dueAt":"2026-07-29T12:00:00Z"}"#);
}

/// A dry run of the console as of event 3.
/// The handler takes `LendingRules`: add `.with(…)` for values other than the defaults.
#[test]
fn borrow_book_is_rejected_as_copy_lent() {
    es_framework::testing::given()
        .at("2026-07-01T12:00:00Z")
        .event_json(
            "/readers/00000000-0000-0000-0000-000000000064",
            "com.example.library.ReaderRegisteredEvent",
            r#"{"id":"00000000-0000-0000-0000-000000000064","name":"erased reader","card":null}"#,
        )
        .event_json(
            "/books/00000000-0000-0000-0000-000000000001",
            "com.example.library.BookPurchasedEvent",
            r#"{"id":"00000000-0000-0000-0000-000000000001","isbn":"978-0-345-53943-1","title":"The Lord of the Rings","author":"J. R. R. Tolkien","numPages":1178}"#,
        )
        .event_json(
            "/books/00000000-0000-0000-0000-000000000001",
            "com.example.library.BookBorrowedEvent",
            r#"{"id":"00000000-0000-0000-0000-000000000001","reader":"00000000-0000-0000-0000-000000000064","dueAt":"2026-07-29T12:00:00Z"}"#,
        )
        .event_json(
            "/readers/00000000-0000-0000-0000-000000000064",
            "com.example.library.LoanOpenedEvent",
            r#"{"reader":"00000000-0000-0000-0000-000000000064","book":"00000000-0000-0000-0000-000000000001","dueAt":"2026-07-29T12:00:00Z"}"#,
        )
        .when_json(
            "BorrowBookCommand",
            r#"{"id":"00000000-0000-0000-0000-000000000001","reader":"00000000-0000-0000-0000-000000000064"}"#,
        )
        .then_problem(
            "copy-lent",
            "the copy is lent until 2026-07-29T12:00:00Z",
        );
}
