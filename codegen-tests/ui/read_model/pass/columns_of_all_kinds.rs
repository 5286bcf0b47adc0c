//! Each kind of column, each form of a step, and each kind of filter.
#![forbid(unsafe_code)]
#![deny(warnings)]

use std::collections::BTreeMap;

use es_framework::{event::RecordedEvent, prelude::*};

#[derive(Event)]
#[event(package = "com.example.tests")]
struct OpenedEvent {
    id: Uuid,
    other: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ChangedEvent {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct MovedEvent {
    row: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ReplacedEvent {}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ClosedEvent {}

#[derive(ReadModel)]
#[read_model(table = "rows_of_all_kinds", subject = "/rows/{id}")]
struct Row {
    #[key]
    id: Uuid,
    #[search]
    text: String,
    count: u32,
    weight: f64,
    fine: bool,
    #[visible(role = ["staff", "auditor"], owner = kind_of_row)]
    at: Option<Timestamp>,
    tags: Vec<String>,
    named: BTreeMap<String, i64>,
    #[search(alphanumeric)]
    #[visible(owner)]
    r#type: Option<String>,
    #[search(alphanumeric)]
    #[serde(rename = "kind")]
    kind_of_row: String,
}

#[projection]
impl Row {
    fn opened(event: &OpenedEvent, recorded: &RecordedEvent) -> Self {
        Self {
            id: event.id,
            text: recorded.source.to_string(),
            count: 0,
            weight: 0.5,
            fine: event.other.is_nil(),
            at: None,
            tags: vec![],
            named: BTreeMap::new(),
            r#type: None,
            kind_of_row: String::new(),
        }
    }

    fn changed(&mut self, event: ChangedEvent) {
        self.fine = event.id.is_nil();
    }

    fn replaced(self, _: &ReplacedEvent) -> Self {
        self
    }

    fn closed(self, _: &ClosedEvent) -> Option<Self> {
        None
    }

    #[key(row)]
    fn moved(row: Option<Self>, event: &MovedEvent) -> Option<Self> {
        row.filter(|row| row.id == event.row)
    }
}

/// Rows.
#[derive(Query)]
#[query(path = "/rows", rows = Row, order = descending(count))]
struct Browse {
    #[filter(contains)]
    text: Option<String>,
    #[filter(at_least(count))]
    min_count: Option<u32>,
    #[filter(at_most)]
    weight: Option<f64>,
    #[filter(eq)]
    at: Option<Timestamp>,
    #[filter(one_of)]
    r#type: Vec<String>,
    #[filter(eq)]
    fine: bool,
}

#[derive(Query)]
#[query(path = "/rows/{id}", row = Row)]
struct Find {
    id: Uuid,
}

#[derive(Query)]
#[query(path = "/rows/count")]
struct Count {
    at_least: u32,
}

impl QueryHandler for Count {
    type Output = usize;

    async fn handle(self, context: &QueryContext<'_>) -> Result<usize, QueryError> {
        let rows = context
            .rows::<Row>()
            .filter(Row::count().at_least(&self.at_least))
            .filter(Row::r#type().is_none().or(Row::kind_of_row().contains("oak")))
            .filter(Row::at().above(&context.now()).or(Row::at().is_some()))
            .filter(Row::tags().ne(&vec!["old".to_owned()]).and(Row::fine().eq(&true)))
            .filter(Row::text().one_of(&["a".to_owned(), "b".to_owned()]))
            .sort_descending(Row::weight());
        Ok(rows.all(1_000).await?.len())
    }
}
