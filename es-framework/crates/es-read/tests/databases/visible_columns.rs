//! A caller gets rows without what `#[visible(…)]` hides from them, by no way of asking.

use es_framework::{
    command::Services,
    prelude::*,
    projection::{Database, ReadModelDescriptor, ReadModels},
    query::{Condition, PageParameters, QueryDescriptor, QueryParameters},
};
use serde_json::{Value, json};

use super::filled_database::fill_database;
use super::note_board::NoteBoard;
use super::postgres_server::PostgresServer;

#[derive(Debug, Event)]
struct BookLentEvent {
    book: u32,
    reader: Option<String>,
    remark: Option<String>,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "lendings")]
struct Lending {
    #[key]
    book: u32,
    #[visible(role = "staff", owner)]
    #[search(alphanumeric)]
    reader: Option<String>,
    #[visible(role = ["staff", "auditor"], owner = reader)]
    days: Option<u32>,
    /// The words of the librarian.
    #[visible(role = "staff")]
    #[search]
    remark: Option<String>,
}

#[projection]
impl Lending {
    #[key(book)]
    fn lent(event: BookLentEvent) -> Self {
        Self {
            book: event.book,
            days: event.reader.is_some().then_some(10 * event.book),
            reader: event.reader,
            remark: event.remark,
        }
    }
}

/// Lists the books.
#[derive(Query)]
#[query(path = "/lendings", rows = Lending)]
struct BrowseLendings {
    #[filter(eq)]
    reader: Option<String>,
    #[filter(contains(remark))]
    about: Option<String>,
}

/// Lists the books by the time for which they are lent.
#[derive(Query)]
#[query(path = "/lendings/by-days", rows = Lending, order = descending(days))]
struct BrowseByDays {}

/// Lists the books by the remarks about them.
#[derive(Query)]
#[query(path = "/lendings/by-remark", rows = Lending, order = remark)]
struct BrowseByRemark {
    #[filter(eq)]
    book: Option<u32>,
}

/// The books in one database.
struct Desk {
    database: Database,
    _server: Option<PostgresServer>,
}

fn staff() -> Caller {
    Caller::authenticated("kim", ["staff"])
}

/// A reader. Their owner ids differ in a hyphen alone, which searches ignore.
fn reader(owner_id: &str) -> Caller {
    Caller::authenticated("somebody", ["reader"]).with_owner_id(owner_id)
}

impl Desk {
    async fn open(server: Option<PostgresServer>) -> Self {
        Self::open_with_remark(server, "secret").await
    }

    /// Lends the books 1 and 3 to `r-1` and 2 to `r1`. Nobody has the book 4.
    async fn open_with_remark(server: Option<PostgresServer>, remark: &str) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Lending>()]).unwrap();
        let queries = [
            QueryDescriptor::of::<BrowseLendings>(),
            QueryDescriptor::of::<BrowseByDays>(),
            QueryDescriptor::of::<BrowseByRemark>(),
        ];
        let models = models.with_indexes_of(&queries);
        let lent = [
            (1, Some("r-1")),
            (2, Some("r1")),
            (3, Some("r-1")),
            (4, None),
        ];
        let events = lent.map(|(book, reader)| BookLentEvent {
            book,
            reader: reader.map(str::to_owned),
            remark: Some(remark.to_owned()),
        });
        let database = fill_database(server.as_ref(), models, "/lendings", events).await;
        let _server = server;
        Self { database, _server }
    }

    fn context(&self, caller: Caller) -> QueryContext<'_> {
        let paging = PageParameters::default();
        QueryContext::new(&self.database, paging, Timestamp::now()).with_caller(caller)
    }

    /// Sends a query as a client does.
    fn ask<'a, Q: QueryHandler>(
        &'a self,
        parameters: &[(&str, &str)],
        caller: &Caller,
    ) -> impl Future<Output = Result<Value, QueryError>> + use<'a, Q> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let parameters = QueryParameters::new(parameters.iter().map(owned)).unwrap();
        let query = (QueryDescriptor::of::<Q>().parse)(parameters, caller);
        async move {
            let output = query?(&self.database, &Services::default()).await?;
            Ok(serde_json::from_str(output.get()).unwrap())
        }
    }

    async fn select(&self, condition: Condition<Lending>, caller: Caller) -> Vec<u32> {
        let context = self.context(caller);
        let rows = context.rows::<Lending>().filter(condition);
        let rows = rows.all(100).await.unwrap();
        rows.iter().map(|row| row.book).collect()
    }
}

fn books(page: &Value) -> Vec<u64> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|row| row["book"].as_u64().unwrap()).collect()
}

fn assert_not_visible<T: std::fmt::Debug>(result: Result<T, QueryError>, member: &str) {
    match result {
        Err(QueryError::NotVisible { member: named, .. }) => assert_eq!(named, member),
        other => panic!("{member}: {other:?}"),
    }
}

#[tokio::test]
async fn each_caller_gets_the_members_that_they_see() {
    for location in NoteBoard::locations() {
        let desk = Desk::open(location).await;
        let rows = async |caller| {
            let mut page = desk.ask::<BrowseLendings>(&[], &caller).await.unwrap();
            page["items"].take()
        };
        let hidden = |book| json!({ "book": book });
        let own = |book, reader| json!({ "book": book, "reader": reader, "days": 10 * book });
        let nobody = json!([hidden(1), hidden(2), hidden(3), hidden(4)]);
        assert_eq!(rows(Caller::authenticated("x", ["reader"])).await, nobody);
        assert_eq!(rows(reader("r_1")).await, nobody);
        let first = json!([own(1, "r-1"), hidden(2), own(3, "r-1"), hidden(4)]);
        assert_eq!(rows(reader("r-1")).await, first);
        let second = json!([hidden(1), own(2, "r1"), hidden(3), hidden(4)]);
        assert_eq!(rows(reader("r1")).await, second);
        let days = |book: u32| json!({ "book": book, "days": 10 * book });
        let none = json!({ "book": 4, "days": null });
        let auditor = Caller::authenticated("max", ["auditor"]);
        assert_eq!(
            rows(auditor).await,
            json!([days(1), days(2), days(3), none])
        );
        let all = |book, reader: Option<&str>| {
            let days = reader.map(|_| 10 * book);
            json!({ "book": book, "reader": reader, "days": days, "remark": "secret" })
        };
        let (r1, other) = (Some("r-1"), Some("r1"));
        let whole = json!([all(1, r1), all(2, other), all(3, r1), all(4, None)]);
        for everything in [staff(), Caller::Anyone, Caller::System] {
            assert_eq!(rows(everything).await, whole);
        }
    }
}

#[tokio::test]
async fn the_size_of_a_hidden_text_does_not_end_a_page() {
    for location in NoteBoard::locations() {
        // The remarks of two rows are larger than a page.
        let remark = "secret ".repeat((5 << 20) / 7);
        let desk = Desk::open_with_remark(location, &remark).await;
        let page = desk.ask::<BrowseLendings>(&[], &reader("r-1")).await;
        let page = page.unwrap();
        assert_eq!(books(&page), [1, 2, 3, 4]);
        assert_eq!(page["nextCursor"], Value::Null);
        let page = desk.ask::<BrowseLendings>(&[], &staff()).await.unwrap();
        assert_eq!(books(&page), [1]);
    }
}

#[tokio::test]
async fn who_does_not_see_a_column_cannot_ask_by_it() {
    for location in NoteBoard::locations() {
        let desk = Desk::open(location).await;
        for caller in [reader("r-1"), Caller::authenticated("max", ["auditor"])] {
            let remark = Lending::remark;
            let secret = "secret".to_owned();
            let book = || Lending::book().eq(&1);
            for condition in [
                remark().eq(&secret),
                remark().ne(&secret),
                remark().one_of::<String>(&[]),
                remark().at_least(&secret),
                remark().at_most(&secret),
                remark().above(&secret),
                remark().below(&secret),
                remark().contains("secret"),
                remark().is_none(),
                remark().is_some(),
                book().or(remark().is_some()),
                book().and(remark().is_some()),
            ] {
                let context = desk.context(caller.clone());
                let rows = context.rows::<Lending>().filter(condition);
                assert_not_visible(rows.all(100).await, "remark");
            }
            let rows = || desk.context(caller.clone()).rows::<Lending>();
            assert_not_visible(rows().sort(remark()).first().await, "remark");
            assert_not_visible(rows().sort_descending(remark()).all(9).await, "remark");
            let paging = PageParameters::default();
            let groups = rows().group_by([remark()]);
            assert_not_visible(groups.page((), &paging).await, "remark");
            let books = || rows().group_by([Lending::book()]);
            let collected = books().page(remark().collect(), &paging).await;
            assert_not_visible(collected, "remark");
            let only = Lending::book().collect().only(remark().is_some());
            assert_not_visible(books().page(only, &paging).await, "remark");
            assert_not_visible(rows().aggregate(remark().count()).await, "remark");
            let extremes = (Lending::book().count(), (remark().min(), remark().max()));
            assert_not_visible(rows().aggregate(extremes).await, "remark");
            let filtered = desk.ask::<BrowseLendings>(&[("about", "secret")], &caller);
            assert_not_visible(filtered.await, "remark");
            let sorted = desk.ask::<BrowseByRemark>(&[("total", "true")], &caller);
            assert_not_visible(sorted.await, "remark");
        }
        let auditor = Caller::authenticated("max", ["auditor"]);
        let filtered = desk.ask::<BrowseLendings>(&[("reader", "r-1")], &auditor);
        assert_not_visible(filtered.await, "reader");
        let nobody = Caller::authenticated("x", ["reader"]);
        assert_not_visible(desk.ask::<BrowseByDays>(&[], &nobody).await, "days");
    }
}

#[tokio::test]
async fn the_cursor_of_somebody_else_opens_nothing() {
    for location in NoteBoard::locations() {
        let desk = Desk::open(location).await;
        let page = desk
            .ask::<BrowseByRemark>(&[("limit", "1")], &staff())
            .await;
        let page = page.unwrap();
        let cursor = page["nextCursor"].as_str().unwrap();
        let stolen = desk.ask::<BrowseByRemark>(&[("cursor", cursor)], &reader("r-1"));
        assert_not_visible(stolen.await, "remark");
    }
}

#[tokio::test]
async fn a_cursor_does_not_tell_whether_a_row_outside_the_query_has_a_value() {
    for location in NoteBoard::locations() {
        // The remarks are too long for a cursor, so it has digests of them.
        let desk = Desk::open_with_remark(location, &"secret ".repeat(50)).await;
        let page = desk.ask::<BrowseByRemark>(&[("limit", "2")], &staff());
        let page = page.await.unwrap();
        let cursor = page["nextCursor"].as_str().unwrap();
        for (book, has_row) in [("1", false), ("2", true), ("3", true), ("4", false)] {
            let parameters = [("cursor", cursor), ("book", book)];
            match desk.ask::<BrowseByRemark>(&parameters, &staff()).await {
                Ok(_) => assert!(has_row, "{book}"),
                Err(QueryError::Invalid { parameter, .. }) => {
                    assert!(!has_row && parameter == "cursor", "{book}");
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[tokio::test]
async fn an_owner_asks_by_a_column_as_if_only_their_own_rows_had_it() {
    for location in NoteBoard::locations() {
        let desk = Desk::open(location).await;
        let select = async |condition| desk.select(condition, reader("r-1")).await;
        let (days, r1) = (Lending::days, "r1".to_owned());
        assert_eq!(select(days().at_least(&0)).await, [1, 3]);
        assert_eq!(select(days().ne(&10)).await, [3]);
        assert_eq!(select(days().eq(&20)).await, [0; 0]);
        assert_eq!(select(days().one_of(&[10, 20])).await, [1]);
        assert_eq!(select(days().is_some()).await, [1, 3]);
        assert_eq!(select(days().is_none()).await, [2, 4]);
        assert_eq!(select(days().is_none().or(days().eq(&30))).await, [2, 3, 4]);
        // The searched form of both owner ids is `r1`.
        assert_eq!(select(Lending::reader().eq(&r1)).await, [1, 3]);
        assert_eq!(select(Lending::reader().contains("R 1")).await, [1, 3]);
        let sorted = desk.ask::<BrowseByDays>(&[("total", "true")], &reader("r-1"));
        let sorted = sorted.await.unwrap();
        assert_eq!((books(&sorted), &sorted["total"]), (vec![3, 1], &json!(2)));
        let first = desk.ask::<BrowseByDays>(&[("limit", "1")], &reader("r-1"));
        let first = first.await.unwrap();
        let cursor = first["nextCursor"].as_str().unwrap();
        let second = desk.ask::<BrowseByDays>(&[("cursor", cursor)], &reader("r-1"));
        assert_eq!(books(&second.await.unwrap()), [1]);
        let context = desk.context(reader("r-1"));
        let groups = context.rows::<Lending>().group_by([Lending::days()]);
        let groups = groups.page((), context.paging()).await.unwrap().items;
        let keys: Vec<_> = groups
            .iter()
            .map(|group| (group.key, group.count))
            .collect();
        assert_eq!(keys, [([Some(10)], 1), ([Some(30)], 1)]);
        let context = desk.context(reader("r-1"));
        let by_book = context.rows::<Lending>().group_by([Lending::book()]);
        let by_book = by_book.page((Lending::days().collect(), days().sum()), context.paging());
        let values: Vec<_> = by_book
            .await
            .unwrap()
            .items
            .into_iter()
            .map(|group| group.values)
            .collect();
        let (own, hidden) = (
            |days| (vec![days], Some(i64::from(days))),
            || (vec![], None),
        );
        assert_eq!(values, [own(10), hidden(), own(30), hidden()]);
        let all = (
            days().count(),
            days().sum(),
            days().min(),
            days().max(),
            days().average(),
        );
        let above = days().sum().only(Lending::book().above(&1));
        let rows = || desk.context(reader("r-1")).rows::<Lending>();
        let own = (2, Some(40), Some(10), Some(30), Some(20.0));
        assert_eq!(rows().aggregate(all).await.unwrap(), own);
        assert_eq!(rows().aggregate(above).await.unwrap(), Some(30));
    }
}

#[tokio::test]
async fn a_row_that_a_handler_composes_is_written_without_what_its_caller_does_not_see() {
    /// Shows a row that no table has.
    #[derive(Query)]
    #[query(path = "/lendings/example")]
    struct ShowExample {}

    impl QueryHandler for ShowExample {
        type Output = Vec<Lending>;

        async fn handle(self, _: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
            let remark = Some("secret".to_owned());
            let (reader, days) = (None, None);
            Ok(vec![Lending {
                book: 9,
                reader,
                days,
                remark,
            }])
        }
    }

    let desk = Desk::open(None).await;
    let seen = desk.ask::<ShowExample>(&[], &reader("r-1")).await.unwrap();
    assert_eq!(seen, json!([{ "book": 9 }]));
    let whole = desk.ask::<ShowExample>(&[], &staff()).await.unwrap();
    let expected = json!([{ "book": 9, "reader": null, "days": null, "remark": "secret" }]);
    assert_eq!(whole, expected);
}

#[test]
fn the_schema_of_a_row_says_who_sees_its_members() {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Lending>();
    let schema = schema.to_value();
    assert_eq!(schema["required"], json!(["book"]));
    let description = |member: &str| schema["properties"][member]["description"].clone();
    assert_eq!(
        description("reader"),
        "Only clients with the role `staff` and clients whose owner id it is see this."
    );
    assert_eq!(
        description("remark"),
        "The words of the librarian.\n\nOnly clients with the role `staff` see this."
    );
}
