//! Clients choose the sort order among those that a query declares, in each database.

use es_framework::{
    command::Services,
    prelude::*,
    projection::{Database, ReadModelDescriptor, ReadModels},
    query::{QueryDescriptor, QueryParameters},
};
use serde_json::Value;

use super::filled_database::fill_database;
use super::note_board::NoteBoard;
use super::postgres_server::PostgresServer;

#[derive(Debug, Clone, Event)]
struct TaskPlannedEvent {
    number: u32,
    title: String,
    due_at: Option<Timestamp>,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "tasks")]
struct Task {
    #[key]
    number: u32,
    title: String,
    due_at: Option<Timestamp>,
}

#[projection]
impl Task {
    #[key(number)]
    fn planned(event: TaskPlannedEvent) -> Self {
        Self {
            number: event.number,
            title: event.title,
            due_at: event.due_at,
        }
    }
}

/// Lists the tasks.
#[derive(Query)]
#[query(path = "/tasks", rows = Task, order = descending(due_at), sort = [title, due_at])]
struct BrowseTasks {
    #[filter(at_least(number))]
    from: Option<u32>,
}

/// Lists the tasks, the oldest first.
#[derive(Query)]
#[query(path = "/tasks/by-age", rows = Task, sort = title)]
struct BrowseByAge {}

/// The tasks in one database.
struct Plan {
    database: Database,
    _server: Option<PostgresServer>,
}

impl Plan {
    /// Plans tasks with these titles. Each is due a day before the one before it, and the last one is never due.
    async fn fill(server: Option<PostgresServer>, titles: &[String]) -> Self {
        let models = ReadModels::new([ReadModelDescriptor::of::<Task>()]).unwrap();
        let queries = [QueryDescriptor::of::<BrowseTasks>()];
        let models = models.with_indexes_of(&queries);
        let day = |day: usize| {
            format!("2026-01-{:02}T00:00:00Z", 30 - day)
                .parse()
                .unwrap()
        };
        let events = titles
            .iter()
            .enumerate()
            .map(|(index, title)| TaskPlannedEvent {
                number: u32::try_from(index).unwrap(),
                title: title.clone(),
                due_at: (index + 1 < titles.len()).then(|| day(index)),
            });
        let database = fill_database(server.as_ref(), models, "/tasks", events).await;
        let _server = server;
        Self { database, _server }
    }

    async fn ask<Q: QueryHandler>(&self, parameters: &[(&str, &str)]) -> Result<Value, QueryError> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let parameters = QueryParameters::new(parameters.iter().map(owned)).unwrap();
        let query = (QueryDescriptor::of::<Q>().parse)(parameters, &Caller::Anyone)?;
        let output = query(&self.database, &Services::default()).await?;
        Ok(serde_json::from_str(output.get()).unwrap())
    }

    /// Returns the numbers of the tasks on all pages of one task.
    async fn numbers<Q: QueryHandler>(&self, sort: &[(&str, &str)]) -> Vec<u64> {
        let (mut numbers, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let cursor_pair = cursor.as_deref().map(|cursor| ("cursor", cursor));
            let pairs = sort
                .iter()
                .copied()
                .chain([("limit", "1")])
                .chain(cursor_pair);
            let page = self.ask::<Q>(&pairs.collect::<Vec<_>>()).await.unwrap();
            let items = page["items"].as_array().unwrap().iter();
            numbers.extend(items.map(|item| item["number"].as_u64().unwrap()));
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return numbers,
            }
        }
    }
}

/// Short titles, and titles that share a beginning which is longer than a cursor and than the text in an index.
fn titles() -> [Vec<String>; 2] {
    let ends = ["b", "d", "a", "c"];
    let long = ends.map(|end| "Water the plants. ".repeat(50) + end);
    [ends.map(str::to_owned).to_vec(), long.to_vec()]
}

#[tokio::test]
async fn a_client_sorts_by_each_declared_column_in_both_directions() {
    for titles in titles() {
        for location in NoteBoard::locations() {
            let plan = Plan::fill(location, &titles).await;
            let sorted = async |sort| plan.numbers::<BrowseTasks>(&[("sort", sort)]).await;
            assert_eq!(sorted("title").await, [2, 0, 3, 1]);
            assert_eq!(sorted("-title").await, [1, 3, 0, 2]);
            // The task that is never due is on no page of this order, and on the pages of the others.
            assert_eq!(sorted("dueAt").await, [2, 1, 0]);
            assert_eq!(sorted("-dueAt").await, [0, 1, 2]);
            assert_eq!(plan.numbers::<BrowseTasks>(&[]).await, [0, 1, 2]);
            let filtered = [("sort", "title"), ("from", "1")];
            assert_eq!(plan.numbers::<BrowseTasks>(&filtered).await, [2, 3, 1]);
            let by_title = plan.numbers::<BrowseByAge>(&[("sort", "-title")]);
            assert_eq!(by_title.await, [1, 3, 0, 2]);
            assert_eq!(plan.numbers::<BrowseByAge>(&[]).await, [0, 1, 2, 3]);
        }
    }
}

#[tokio::test]
async fn an_order_that_no_query_declares_is_refused_with_the_declared_ones() {
    let plan = Plan::fill(None, &["a".to_owned()]).await;
    for sort in [
        "number",
        "due_at",
        "--title",
        "+title",
        "title,dueAt",
        "",
        "-",
        "Title",
    ] {
        let error = plan
            .ask::<BrowseTasks>(&[("sort", sort)])
            .await
            .unwrap_err();
        let message = "must be one of title, -title, dueAt, -dueAt";
        assert!(matches!(&error, QueryError::Invalid { parameter, .. } if parameter == "sort"));
        assert_eq!(error.to_string(), message, "{sort}");
    }
    let twice = [("sort", "title"), ("sort", "title")];
    assert!(plan.ask::<BrowseTasks>(&twice).await.is_err());
}

#[tokio::test]
async fn a_cursor_of_another_order_is_refused() {
    let orders = ["title", "-title", "dueAt", "-dueAt"];
    for titles in titles() {
        for location in NoteBoard::locations() {
            let plan = Plan::fill(location, &titles).await;
            for first in orders {
                let page = [("sort", first), ("limit", "1")];
                let page = plan.ask::<BrowseTasks>(&page).await.unwrap();
                let cursor = page["nextCursor"].as_str().unwrap();
                for second in orders {
                    let page = [("sort", second), ("cursor", cursor)];
                    let page = plan.ask::<BrowseTasks>(&page).await;
                    assert_eq!(page.is_ok(), first == second, "{first} {second}");
                }
                // This is the order without the parameter.
                let page = plan.ask::<BrowseTasks>(&[("cursor", cursor)]).await;
                assert_eq!(page.is_ok(), first == "-dueAt", "{first}");
                let page = plan.ask::<BrowseByAge>(&[("cursor", cursor)]).await;
                assert!(page.is_err(), "{first}");
            }
        }
    }
}

#[tokio::test]
async fn a_cursor_of_an_earlier_release_names_no_order_and_is_taken() {
    let titles = ["b", "a", "c"].map(str::to_owned);
    let plan = Plan::fill(None, &titles).await;
    let cursor = r#"{"place":1,"by":"2026-01-29T00:00:00.000000000Z"}"#;
    let cursor: String = cursor.bytes().map(|byte| format!("{byte:02x}")).collect();
    let page = plan.ask::<BrowseTasks>(&[("cursor", &cursor)]).await;
    assert_eq!(page.unwrap()["items"].as_array().unwrap().len(), 0);
}

#[test]
fn each_choice_has_one_index() {
    let [title, due_at] = [
        Task::title().comparison_index(),
        Task::due_at().comparison_index(),
    ];
    assert_eq!(BrowseTasks::INDEXES[1..], [title, due_at]);
    assert_eq!(BrowseByAge::INDEXES, [title]);
}
