//! Text searches through the index return the rows that a naive search returns.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use proptest::{collection::vec, option, prelude::*};

use super::{
    super::{
        Cell, RowKey,
        row_changes::{RowChanges, RowVersion, TableRow},
    },
    PATIENCE, write_event,
};
use crate::prelude::*;
use crate::{
    projection::{
        Database, DatabaseUrl, IndexKind, Processor, ReadModelDescriptor, ReadModels, Table,
    },
    query::{PageParameters, QueryParameters, RowQuery},
};
use es_event::{EventId, Hash};
use es_store::memory::MemoryStore;
use es_subscribe::SubscriberCheckpoint;

#[derive(Debug, Event)]
struct NoteWrittenEvent {
    number: u32,
    text: String,
    other: Option<String>,
    size: u32,
}

#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "notes")]
struct Note {
    #[key]
    number: u32,
    text: String,
    other: Option<String>,
    size: u32,
}

#[projection]
impl Note {
    #[key(number)]
    fn written(_: Option<Self>, event: NoteWrittenEvent) -> Option<Self> {
        Some(Self {
            number: event.number,
            text: event.text,
            other: event.other,
            size: event.size,
        })
    }
}

fn models() -> ReadModels {
    ReadModels::new([ReadModelDescriptor::of::<Note>()])
        .unwrap()
        .with_column_index("notes", "text", IndexKind::Searched)
        .with_column_index("notes", "other", IndexKind::Searched)
        .with_column_index("notes", "text", IndexKind::Compared)
        .with_column_index("notes", "size", IndexKind::Compared)
}

/// A change of the rows.
#[derive(Debug, Clone)]
enum Step {
    Put(Note),
    Remove(u32),
    /// A swap replaces the table by a shadow table.
    Rebuild,
    /// The table becomes empty.
    Reset,
}

/// A query with its filters and sort order.
#[derive(Debug, Clone)]
struct Question {
    text: String,
    other: Option<String>,
    most: Option<u32>,
    order: Option<(&'static str, bool)>,
}

/// Spellings, each with the text that all spellings of it have in common. A longer spelling comes before its beginning.
const SPELLINGS: [(&str, &str); 31] = [
    ("e\u{301}", "é"),
    ("E\u{301}", "é"),
    ("i\u{307}", "i"),
    ("I\u{307}", "i"),
    ("a", "a"),
    ("A", "a"),
    ("Ａ", "a"),
    ("b", "b"),
    ("c", "c"),
    ("C", "c"),
    ("e", "e"),
    ("é", "é"),
    ("É", "é"),
    ("ß", "ss"),
    ("ẞ", "ss"),
    ("S", "s"),
    ("İ", "i"),
    ("ı", "i"),
    ("I", "i"),
    ("ς", "σ"),
    ("Σ", "σ"),
    ("ﬁ", "fi"),
    ("\u{AD}", ""),
    ("%", "%"),
    ("_", "_"),
    ("\\", "\\"),
    ("\"'", "\"'"),
    ("\0", "\0"),
    (" *-", " *-"),
    ("あ", "あ"),
    ("𝄞", "𝄞"),
];

/// Folds a text by hand.
fn fold_by_hand(mut text: &str) -> String {
    let mut folded = String::new();
    while let Some(character) = text.chars().next() {
        let known = SPELLINGS
            .iter()
            .find(|(spelling, _)| text.starts_with(spelling));
        if let Some((spelling, common)) = known {
            folded.push_str(common);
            text = &text[spelling.len()..];
        } else {
            folded.push(character.to_ascii_lowercase());
            text = &text[character.len_utf8()..];
        }
    }
    folded
}

fn text() -> impl Strategy<Value = String> {
    let spelling = prop::sample::select(SPELLINGS.map(|(spelling, _)| spelling).to_vec());
    vec(spelling, 0..9).prop_map(String::from_iter)
}

fn part() -> impl Strategy<Value = String> {
    text().prop_map(|text| text.chars().take(5).collect())
}

fn step() -> impl Strategy<Value = Step> {
    let note = (0..12_u32, text(), option::of(text()), 0..4_u32);
    let put = note.prop_map(|(number, text, other, size)| {
        Step::Put(Note {
            number,
            text,
            other,
            size,
        })
    });
    prop_oneof![
        12 => put,
        3 => (0..12_u32).prop_map(Step::Remove),
        1 => Just(Step::Rebuild),
        1 => Just(Step::Reset),
    ]
}

fn question() -> impl Strategy<Value = Question> {
    let order = prop::sample::select(vec!["text", "size"]);
    let order = option::of((order, any::<bool>()));
    let asked = (part(), option::of(part()), option::of(0..4_u32), order);
    asked.prop_map(|(text, other, most, order)| Question {
        text,
        other,
        most,
        order,
    })
}

/// The rows in a database, and the expected rows.
struct Notes {
    database: Database,
    table: Table,
    rows: BTreeMap<i64, Note>,
    written: i64,
}

impl Notes {
    async fn open(url: &DatabaseUrl) -> Self {
        let models = models();
        let database = Database::open(url, &models).await.unwrap();
        assert!(database.try_become_writer().await.unwrap());
        Self {
            database,
            table: models.find_table("notes").unwrap().clone(),
            rows: BTreeMap::new(),
            written: 0,
        }
    }

    fn place(&self, number: u32) -> Option<i64> {
        let mut rows = self.rows.iter();
        let (place, _) = rows.find(|(_, note)| note.number == number)?;
        Some(*place)
    }

    async fn take(&mut self, step: Step) {
        let mut changes = RowChanges::default();
        match step {
            Step::Put(note) => {
                let place = self.place(note.number).unwrap_or(self.written);
                changes.rows.push(stored(place, &note));
                self.rows.insert(place, note);
            }
            Step::Remove(number) => {
                let key = RowKey::Integer(number.into());
                changes.removed.push((EventId::FIRST, key));
                if let Some(place) = self.place(number) {
                    self.rows.remove(&place);
                }
            }
            Step::Rebuild => return self.rebuild().await,
            Step::Reset => {
                self.rows.clear();
                return self.database.reset_table(&self.table).await.unwrap();
            }
        }
        self.write(&self.table.clone(), changes).await;
    }

    async fn write(&mut self, table: &Table, changes: RowChanges) {
        self.written += 1;
        let checkpoint = SubscriberCheckpoint {
            event: EventId::new(self.written.unsigned_abs()).unwrap(),
            hash: Hash::ZERO,
        };
        let written = self.database.write_batch(table, changes, checkpoint).await;
        written.unwrap();
    }

    async fn rebuild(&mut self) {
        let beside = self.table.shadow_table();
        self.database.reset_table(&beside).await.unwrap();
        for note in self.rows.values_mut() {
            note.text.insert_str(0, "Ba");
        }
        let rows = self.rows.iter();
        let rows = rows.map(|(place, note)| stored(*place, note)).collect();
        let changes = RowChanges {
            rows,
            ..RowChanges::default()
        };
        self.write(&beside, changes).await;
        self.database.swap_tables(&self.table).await.unwrap();
    }

    /// Reads all pages, which must all have the same total.
    async fn find(&self, question: &Question, limit: usize) -> (Vec<Note>, Option<u64>) {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let total = cursor.is_some() || limit.is_multiple_of(2);
            let given = [
                ("limit".to_owned(), limit.to_string()),
                ("total".into(), total.to_string()),
            ];
            let cursor_given = cursor.map(|cursor| ("cursor".to_owned(), cursor));
            let mut given = QueryParameters::new(given.into_iter().chain(cursor_given)).unwrap();
            let paging = PageParameters::take_from_parameters(&mut given, &[]).unwrap();
            let context = QueryContext::new(&self.database, paging.clone(), Timestamp::now());
            let mut rows = question.rows(&context);
            if let Some(most) = &question.most {
                rows = rows.filter(Note::size().at_most(most));
            }
            rows = match question.order {
                None => rows,
                Some(("text", false)) => rows.sort(Note::text()),
                Some(("text", true)) => rows.sort_descending(Note::text()),
                Some((_, false)) => rows.sort(Note::size()),
                Some((_, true)) => rows.sort_descending(Note::size()),
            };
            let page = rows.page(&paging).await.unwrap();
            found.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return (found, page.total);
            }
        }
    }

    /// Returns the groups of the same rows by size, with the small numbers in each, page after page.
    async fn groups(&self, question: &Question, limit: usize) -> Vec<(u32, u64, Vec<u32>)> {
        let (mut groups, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let limit = ("limit".to_owned(), limit.to_string());
            let cursor_given = cursor.map(|cursor| ("cursor".to_owned(), cursor));
            let mut given = QueryParameters::new([limit].into_iter().chain(cursor_given)).unwrap();
            let paging = PageParameters::take_from_parameters(&mut given, &[]).unwrap();
            let context = QueryContext::new(&self.database, paging.clone(), Timestamp::now());
            let by_size = question.rows(&context).group_by([Note::size()]);
            let is_small = Note::number().below(&8_u32);
            let small = Note::number().collect().only(is_small);
            let page = by_size.page(small, &paging).await.unwrap();
            groups.extend(page.items.into_iter().map(|group| {
                let [size] = group.key;
                (size, group.count, group.values)
            }));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return groups;
            }
        }
    }

    /// Returns the rows that a scan of all expected rows finds.
    fn naive(&self, question: &Question) -> Vec<Note> {
        let holds = |text: &str, part: &str| fold_by_hand(text).contains(&fold_by_hand(part));
        let is_found = |note: &&Note| {
            let other = question.other.as_ref();
            let other = other.is_none_or(|part| {
                let text = note.other.as_ref();
                text.is_some_and(|text| holds(text, part))
            });
            holds(&note.text, &question.text)
                && other
                && question.most.is_none_or(|most| note.size <= most)
        };
        let mut notes: Vec<_> = self.rows.values().filter(is_found).cloned().collect();
        if let Some((column, descends)) = question.order {
            match column {
                "text" => notes.sort_by(|one, other| one.text.cmp(&other.text)),
                _ => notes.sort_by_key(|note| note.size),
            }
            // Rows with equal values are then sorted from the newest to the oldest.
            if descends {
                notes.reverse();
            }
        }
        notes
    }

    async fn check(&self, question: &Question, limit: usize) {
        let naive = self.naive(question);
        let (found, total) = self.find(question, limit).await;
        assert_eq!(found, naive, "{question:?}");
        if let Some(total) = total {
            assert_eq!(usize::try_from(total).unwrap(), naive.len(), "{question:?}");
        }
        let all = Question {
            most: None,
            order: None,
            ..question.clone()
        };
        let mut groups = BTreeMap::<u32, (u64, Vec<u32>)>::new();
        for note in self.naive(&all) {
            let (count, numbers) = groups.entry(note.size).or_default();
            *count += 1;
            numbers.extend(Some(note.number).filter(|number| *number < 8));
        }
        let groups = groups.into_iter();
        let groups: Vec<_> = groups
            .map(|(size, (count, numbers))| (size, count, numbers))
            .collect();
        assert_eq!(self.groups(question, limit).await, groups, "{question:?}");
    }
}

impl Question {
    /// Starts the query for the rows that contain the texts.
    fn rows<'a>(&self, context: &QueryContext<'a>) -> RowQuery<'a, Note> {
        let rows = context.rows::<Note>();
        let rows = rows.filter(Note::text().contains(&self.text));
        match &self.other {
            Some(other) => rows.filter(Note::other().contains(other)),
            None => rows,
        }
    }
}

fn stored(place: i64, note: &Note) -> RowVersion {
    let text = |text: &String| Cell::Text(text.clone());
    let row = TableRow {
        place,
        subject: None,
        cells: vec![
            Cell::Integer(note.number.into()),
            text(&note.text),
            note.other.as_ref().map_or(Cell::Null, text),
            Cell::Integer(note.size.into()),
        ],
    };
    RowVersion {
        event: EventId::FIRST,
        row,
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn searches_find_what_a_look_at_each_row_finds(
        steps in vec(step(), 1..50),
        questions in vec((question(), 1..4_usize), 1..12),
    ) {
        runtime().block_on(async {
            let mut notes = Notes::open(&DatabaseUrl::Memory).await;
            let often = steps.len().div_ceil(4);
            for (number, step) in steps.into_iter().enumerate() {
                notes.take(step).await;
                if number % often != 0 {
                    continue;
                }
                for (question, limit) in &questions {
                    notes.check(question, *limit).await;
                }
            }
            for (question, limit) in &questions {
                notes.check(question, *limit).await;
            }
        });
    }
}

fn note(number: u32, text: &str) -> Note {
    Note {
        number,
        text: text.into(),
        other: None,
        size: number % 3,
    }
}

#[tokio::test]
async fn a_part_that_thousands_of_rows_hold_is_found_in_any_order() {
    let mut notes = Notes::open(&DatabaseUrl::Memory).await;
    let mut changes = RowChanges::default();
    for number in 0..11_000_u32 {
        let part = if number % 2 == 0 { "Even" } else { "odd" };
        let note = note(number, &format!("{part} abcd bcde {}", number % 97));
        changes.rows.push(stored(number.into(), &note));
        notes.rows.insert(number.into(), note);
    }
    notes.write(&notes.table.clone(), changes).await;
    for text in ["even", "DE 7", "bcd", "dd ", "abcde", "nothing"] {
        for (most, order) in [
            (None, None),
            (Some(1), None),
            (None, Some(("text", true))),
            (Some(0), Some(("size", false))),
        ] {
            let question = Question {
                text: text.into(),
                other: None,
                most,
                order,
            };
            notes.check(&question, 1_000).await;
        }
    }
}

/// Returns the numbers of the rows that contain a substring.
async fn numbers(database: &Database, part: &str) -> Vec<u32> {
    let context = QueryContext::new(database, PageParameters::default(), Timestamp::now());
    let found = context
        .rows::<Note>()
        .filter(Note::text().contains(part))
        .all(100)
        .await;
    found.unwrap().iter().map(|note| note.number).collect()
}

async fn open_and_follow(file: &Path, store: &MemoryStore, until: u64) -> Database {
    let url = DatabaseUrl::File(file.to_owned());
    let database = Database::open(&url, &models()).await.unwrap();
    let processor = Processor::new(Arc::new(store.clone()), database.clone(), models());
    let positions = processor.progress();
    let following = tokio::spawn(processor.run());
    let last = EventId::new(until);
    positions
        .wait_until_reached(&[], last, PATIENCE)
        .await
        .unwrap();
    following.abort();
    let _ = following.await;
    database
}

#[tokio::test]
async fn a_file_keeps_its_search_index() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.db");
    let store = MemoryStore::new();
    let write = async |number: u32, text: &str| {
        let event = NoteWrittenEvent {
            number,
            text: text.into(),
            other: None,
            size: 1,
        };
        write_event(&store, "/notes", &event).await;
    };
    for number in 0..3 {
        write(number, &format!("the same {number}")).await;
    }
    let database = open_and_follow(&file, &store, 2).await;
    assert_eq!(numbers(&database, "SAME").await, [0, 1, 2]);
    drop(database);
    write(1, "another").await;
    write(3, "the same again").await;
    let database = open_and_follow(&file, &store, 4).await;
    assert_eq!(numbers(&database, "same").await, [0, 2, 3]);
    assert_eq!(numbers(&database, "another").await, [1]);
}

/// The search index of a file that an older release wrote.
const OLD_INDEX: &str = "
    CREATE VIRTUAL TABLE es_search_notes USING fts5(es_groups_text, content='',
        contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1');
    CREATE TRIGGER es_search_notes_delete AFTER DELETE ON notes
        BEGIN DELETE FROM es_search_notes WHERE rowid = old.es_place; END;
    UPDATE es_checkpoint SET definition = 'of an older release'";

#[tokio::test]
async fn a_file_of_an_older_release_is_rebuilt_with_the_new_index() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.db");
    let store = MemoryStore::new();
    for number in 0..3 {
        let event = NoteWrittenEvent {
            number,
            text: format!("the same {number}"),
            other: None,
            size: 1,
        };
        write_event(&store, "/notes", &event).await;
    }
    drop(open_and_follow(&file, &store, 2).await);
    let old = rusqlite::Connection::open(&file).unwrap();
    old.execute_batch("DROP TABLE es_search_notes").unwrap();
    old.execute_batch(OLD_INDEX).unwrap();
    drop(old);
    let database = open_and_follow(&file, &store, 2).await;
    assert_eq!(numbers(&database, "SAME").await, [0, 1, 2]);
}
