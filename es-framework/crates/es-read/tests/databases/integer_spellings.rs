//! Integers that an event spells as floats are columns in the order of their values.

use serde_json::value::RawValue;

use super::note_board::{BrowseByPages, Note, NoteBoard, NoteWrittenEvent};

#[tokio::test(flavor = "multi_thread")]
async fn integers_are_sorted_by_value_however_an_event_spells_them() {
    // Each spelling, with the integer that it is in JSON Schema.
    let spellings = [
        ("310.0", 310),
        ("1e3", 1_000),
        ("-0", 0),
        ("42", 42),
        ("-1.50e1", -15),
        ("9007199254740993.0", 9_007_199_254_740_993),
        ("9007199254740992", 9_007_199_254_740_992),
    ];
    let data = spellings.map(|(pages, _)| {
        let payload = format!(
            r#"{{"name":"{pages}","text":"","sum":1,"count":2.0,"debts":[],"pages":{pages}}}"#
        );
        RawValue::from_string(format!(r#"{{"metadata":{{}},"payload":{payload}}}"#)).unwrap()
    });
    for server in NoteBoard::locations() {
        let board = NoteBoard::start(server).await;
        let data = data.iter().cloned();
        let last = board.append_data::<NoteWrittenEvent>(data).await;
        board.await_position(last).await;
        let notes: Vec<Note> = board.read_pages::<BrowseByPages, _>(2).await;
        let found: Vec<_> = notes
            .into_iter()
            .map(|note| (note.name, note.pages))
            .collect();
        let mut sorted = spellings.map(|(name, pages)| (name.to_owned(), pages));
        sorted.sort_by_key(|(_, pages)| *pages);
        assert_eq!(found, sorted);
    }
}
