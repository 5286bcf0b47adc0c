//! Searches find a text in whatever case and encoding it is written, and an ISBN in whatever way its digits are grouped.

use es_framework::{
    prelude::*,
    projection::{Database, ReadModelDescriptor, ReadModels},
    query::{Condition, PageParameters, QueryDescriptor},
};

use serde_json::Value;

use super::filled_database::fill_database;
use super::note_board::{NoteBoard, read_pages};
use super::postgres_server::PostgresServer;

#[derive(Debug, Event)]
struct EditionPrintedEvent {
    number: u32,
    title: String,
    isbn: String,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "editions")]
struct Edition {
    #[key]
    number: u32,
    #[search]
    title: String,
    #[index]
    #[search(alphanumeric)]
    isbn: String,
    plain: Option<String>,
}

#[projection]
impl Edition {
    #[key(number)]
    fn printed(event: EditionPrintedEvent) -> Self {
        Self {
            number: event.number,
            title: event.title,
            isbn: event.isbn,
            plain: None,
        }
    }
}

/// Lists the editions by their ISBN.
#[derive(Query)]
#[query(path = "/editions", rows = Edition, order = isbn)]
struct BrowseEditions {}

/// Lists each ISBN with its editions.
#[derive(Query)]
#[query(path = "/isbns", paged)]
struct BrowseIsbns {}

impl QueryHandler for BrowseIsbns {
    type Output = Page<(String, u64, Vec<u32>)>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let groups = context.rows::<Edition>().group_by([Edition::isbn()]);
        let page = groups.page(Edition::number().collect(), context.paging());
        Ok(page.await?.map(|group| {
            let [isbn] = group.key;
            (isbn, group.count, group.values)
        }))
    }
}

const EDITIONS: [(&str, &str); 8] = [
    ("ΟΔΥΣΣΕΙΑ", "978-0-345-53943-1"),
    ("Ο Οδυσσεύς", "9780345539431"),
    ("Café", "080442957X"),
    ("CAFE\u{301}", "0-8044-2957-x"),
    ("İstanbul", "978 0 00 000000 2"),
    ("Istanbul ISPARTA", "978-0-00-000000-1"),
    ("ıssız", ""),
    ("STRASSE", "-"),
];

/// The editions in one database.
struct Shelf {
    database: Database,
    _server: Option<PostgresServer>,
}

impl Shelf {
    async fn fill(server: Option<PostgresServer>) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Edition>()]).unwrap();
        let queries = [QueryDescriptor::of::<BrowseEditions>()];
        let models = models.with_indexes_of(&queries);
        let events = (1..)
            .zip(EDITIONS)
            .map(|(number, (title, isbn))| EditionPrintedEvent {
                number,
                title: title.to_owned(),
                isbn: isbn.to_owned(),
            });
        let database = fill_database(server.as_ref(), models, "/editions", events).await;
        let _server = server;
        Self { database, _server }
    }

    fn context(&self) -> QueryContext<'_> {
        QueryContext::new(&self.database, PageParameters::default(), Timestamp::now())
    }

    async fn select(&self, condition: Condition<Edition>) -> Vec<u32> {
        let rows = self.context().rows::<Edition>().filter(condition);
        let rows = rows.all(100).await.unwrap();
        rows.iter().map(|row| row.number).collect()
    }
}

#[tokio::test]
async fn a_substring_is_found_in_each_spelling_of_its_letters() {
    for location in NoteBoard::locations() {
        let shelf = Shelf::fill(location).await;
        for (part, expected) in [
            ("ΟΔΥΣ", &[1, 2][..]),
            ("οδυς", &[1, 2]),
            ("οδυσ", &[1, 2]),
            ("ΣΣΕΙΑ", &[1]),
            ("café", &[3, 4]),
            ("CAFÉ", &[3, 4]),
            ("cafe\u{301}", &[3, 4]),
            ("cafe", &[]),
            ("istanbul", &[5, 6]),
            ("ISTANBUL", &[5, 6]),
            ("İSTANBUL", &[5, 6]),
            ("ısparta", &[6]),
            ("ISSIZ", &[7]),
            ("straße", &[8]),
            ("", &[1, 2, 3, 4, 5, 6, 7, 8]),
        ] {
            let found = shelf.select(Edition::title().contains(part)).await;
            assert_eq!(found, expected, "{part}");
        }
    }
}

#[tokio::test]
async fn an_isbn_is_found_with_and_without_its_hyphens() {
    for location in NoteBoard::locations() {
        let shelf = Shelf::fill(location).await;
        let isbn = Edition::isbn;
        let text = str::to_owned;
        for spelling in ["9780345539431", "978-0-345-53943-1", "978 0345 539431"] {
            assert_eq!(shelf.select(isbn().contains(spelling)).await, [1, 2]);
            assert_eq!(shelf.select(isbn().eq(&text(spelling))).await, [1, 2]);
        }
        assert_eq!(shelf.select(isbn().contains("5-5394")).await, [1, 2]);
        assert!(
            shelf
                .select(isbn().contains("9780345539432"))
                .await
                .is_empty()
        );
        assert_eq!(
            shelf.select(isbn().eq(&text("0 8044 2957 X"))).await,
            [3, 4]
        );
        assert_eq!(shelf.select(isbn().ne(&text("080442957-x"))).await.len(), 6);
        let some = [text("0804-42957x"), text("9780000000002")];
        assert_eq!(shelf.select(isbn().one_of(&some)).await, [3, 4, 5]);
        let bound = text("978-0000000002");
        assert_eq!(shelf.select(isbn().at_least(&bound)).await, [1, 2, 5]);
        assert_eq!(shelf.select(isbn().eq(&text("--"))).await, [7, 8]);
    }
}

#[tokio::test]
async fn rows_are_sorted_by_letters_and_digits_and_show_what_was_sent() {
    for location in NoteBoard::locations() {
        let shelf = Shelf::fill(location).await;
        for limit in [1, 3, 100] {
            let rows = read_pages::<BrowseEditions, Value>(&shelf.database, limit).await;
            let rows: Vec<_> = rows.iter().map(|row| row["isbn"].clone()).collect();
            let expected = [
                "",
                "-",
                "080442957X",
                "0-8044-2957-x",
                "978-0-00-000000-1",
                "978 0 00 000000 2",
                "978-0-345-53943-1",
                "9780345539431",
            ];
            assert_eq!(rows, expected, "pages of {limit}");
        }
    }
}

#[tokio::test]
async fn the_spellings_of_an_isbn_are_one_group_that_shows_the_first_one() {
    for location in NoteBoard::locations() {
        let shelf = Shelf::fill(location).await;
        let group = |isbn: &str, rows: &[u32]| (isbn.to_owned(), rows.len() as u64, rows.to_vec());
        let expected = [
            group("", &[7, 8]),
            group("080442957X", &[3, 4]),
            group("978-0-00-000000-1", &[6]),
            group("978 0 00 000000 2", &[5]),
            group("978-0-345-53943-1", &[1, 2]),
        ];
        for limit in [1, 2, 100] {
            let groups =
                read_pages::<BrowseIsbns, (String, u64, Vec<u32>)>(&shelf.database, limit).await;
            assert_eq!(groups, expected, "pages of {limit}");
        }
    }
}

#[tokio::test]
async fn a_search_in_a_column_that_is_not_prepared_for_it_says_how_to_prepare_it() {
    let shelf = Shelf::fill(None).await;
    let rows = shelf.context().rows::<Edition>();
    let searched = rows.filter(Edition::plain().contains("a")).first().await;
    assert_eq!(
        searched.unwrap_err().to_string(),
        "the query searches `plain` of editions, which has no text for searches: \
         write `#[search]` above this field of the read model"
    );
}
