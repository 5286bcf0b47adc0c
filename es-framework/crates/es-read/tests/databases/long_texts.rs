//! Texts of any length are keys, are compared and are sorted, as their full values.

use serde_json::Value;

use es_framework::query::Condition;

use super::note_board::{
    BrowseBackwards, BrowseNotes, BrowseTexts, Note, NoteBoard, NoteErasedEvent, NoteWrittenEvent,
};
use super::postgres_server::PostgresServer;

/// Returns a text of random characters, which no database can compress below its limits.
pub(crate) fn random_text(seed: u64, length: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let character = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Of each length in UTF-8, with backslashes among them.
        match state % 5 {
            0 => '\\',
            1 => char::from_u32(0x1_0000 + u32::try_from(state >> 40).unwrap() % 0xf_0000).unwrap(),
            2 => char::from_u32(0xa0 + u32::try_from(state >> 40).unwrap() % 0x700).unwrap(),
            _ => char::from(b'!' + u8::try_from((state >> 40) % 90).unwrap()),
        }
    };
    (0..length).map(character).collect()
}

/// Texts of each length around the limits, in no order. Some differ only at their ends.
fn texts() -> Vec<String> {
    let long = random_text(7, 2_800);
    let mut texts = vec![
        "The Ring".to_owned(),
        String::new(),
        "ring".to_owned(),
        r"\x41".to_owned(),
        long.clone(),
        format!("{long}b"),
        format!("{long}a"),
        long.chars().take(599).collect(),
        long.chars().take(600).collect(),
        long.chars().take(601).collect(),
        format!("{}\u{10ffff}", long.chars().take(600).collect::<String>()),
        "z".repeat(100_000),
    ];
    texts.extend((0..12).map(|seed| random_text(seed + 100, 2_800)));
    texts
}

/// Two notes of each text, whose names are as long as the texts.
fn notes() -> Vec<NoteWrittenEvent> {
    let named =
        |prefix: &str, text: &String| NoteWrittenEvent::new(&format!("{text}{prefix}"), text);
    let texts = texts();
    let first = texts.iter().map(|text| named("1", text));
    let second = texts.iter().rev().map(|text| named("2", text));
    first.chain(second).collect()
}

fn names(rows: Vec<Value>) -> Vec<String> {
    let name = |row: Value| row["name"].as_str().unwrap().to_owned();
    rows.into_iter().map(name).collect()
}

#[tokio::test]
async fn rows_are_sorted_by_their_full_texts_on_pages_of_any_size() {
    for location in NoteBoard::locations() {
        let board = NoteBoard::start(location).await;
        board.append_and_wait(&notes()).await;
        // A stable sort keeps the order of age.
        let mut sorted = notes();
        sorted.sort_by(|one, other| one.text.cmp(&other.text));
        let mut expected: Vec<_> = sorted.into_iter().map(|note| note.name).collect();
        for limit in [1, 3, 1_000] {
            let pages = board.read_pages::<BrowseNotes, Value>(limit).await;
            assert!(names(pages) == expected, "pages of {limit}");
        }
        expected.reverse();
        for limit in [1, 3, 1_000] {
            let pages = board.read_pages::<BrowseBackwards, Value>(limit).await;
            assert!(names(pages) == expected, "pages of {limit}, backwards");
        }
        let mut groups: Vec<_> = texts().into_iter().map(|text| (text, 2_u64)).collect();
        groups.sort();
        for limit in [1, 5, 1_000] {
            let pages = board.read_pages::<BrowseTexts, (String, u64)>(limit).await;
            assert!(pages == groups, "groups, pages of {limit}");
        }
    }
}

#[tokio::test]
async fn conditions_compare_the_full_texts() {
    for location in NoteBoard::locations() {
        let board = NoteBoard::start(location).await;
        board.append_and_wait(&notes()).await;
        let select = async |condition: Condition<Note>| {
            let rows = board.context().rows::<Note>().filter(condition);
            let rows = rows.all(1_000).await.unwrap();
            rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
        };
        let expected = |is_selected: &dyn Fn(&String) -> bool| {
            let notes = notes().into_iter().filter(|note| is_selected(&note.text));
            notes.map(|note| note.name).collect::<Vec<_>>()
        };
        for text in texts() {
            let column = Note::text;
            assert!(select(column().eq(&text)).await == expected(&|other| *other == text));
            assert!(select(column().ne(&text)).await == expected(&|other| *other != text));
            assert!(select(column().at_least(&text)).await == expected(&|other| *other >= text));
            assert!(select(column().above(&text)).await == expected(&|other| *other > text));
            assert!(select(column().at_most(&text)).await == expected(&|other| *other <= text));
            assert!(select(column().below(&text)).await == expected(&|other| *other < text));
            let name = format!("{text}1");
            assert!(select(Note::name().eq(&name)).await == [name]);
        }
        let some: Vec<_> = texts().into_iter().step_by(2).collect();
        let is_one = |other: &String| some.contains(other);
        assert!(select(Note::text().one_of(&some)).await == expected(&is_one));
    }
}

#[tokio::test]
async fn a_row_with_a_long_key_is_replaced_and_deleted() {
    for location in NoteBoard::locations() {
        let board = NoteBoard::start(location).await;
        let key = random_text(1, 2_800);
        let twin = format!("{}!", key);
        board
            .append_and_wait(&[NoteWrittenEvent::new(&key, "first")])
            .await;
        board
            .append_and_wait(&[NoteWrittenEvent::new(&twin, "other")])
            .await;
        board
            .append_and_wait(&[NoteWrittenEvent::new(&key, "second")])
            .await;
        let rows = async || {
            let rows = board.context().rows::<Note>().all(10).await.unwrap();
            rows.into_iter()
                .map(|row| (row.name, row.text))
                .collect::<Vec<_>>()
        };
        let other = (twin.clone(), "other".to_owned());
        assert!(rows().await == [(key.clone(), "second".to_owned()), other.clone()]);
        board
            .append_and_wait(&[NoteErasedEvent { name: key.clone() }])
            .await;
        assert!(rows().await == [other]);
    }
}

#[tokio::test]
async fn a_table_of_an_older_release_is_rebuilt_and_takes_long_texts() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let board = NoteBoard::start(Some(server)).await;
    board
        .append_and_wait(&[NoteWrittenEvent::new("a", "short")])
        .await;
    // The indexes of releases that indexed whole texts.
    board.run_sql(
        "DO $$ DECLARE index name; BEGIN \
           FOR index IN SELECT indexname FROM pg_indexes \
             WHERE tablename = 'notes' AND indexname NOT IN (SELECT conname FROM pg_constraint) \
           LOOP EXECUTE format('DROP INDEX %I', index); END LOOP; \
         END $$; \
         CREATE UNIQUE INDEX notes_name ON notes (name); \
         CREATE INDEX notes_text ON notes (text, es_place); \
         UPDATE es_checkpoint SET definition = split_part(definition, '.', 1) || '.older'",
    );
    let board = board.restart().await;
    let text = random_text(3, 2_800);
    board
        .append_and_wait(&[NoteWrittenEvent::new("b", &text)])
        .await;
    let found = board
        .context()
        .rows::<Note>()
        .filter(Note::text().eq(&text));
    assert_eq!(found.all(10).await.unwrap().len(), 1);
}
