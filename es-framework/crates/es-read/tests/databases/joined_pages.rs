//! Pages of two read models, and of hand-written SQL, in each database.

use es_framework::{
    command::Services,
    prelude::*,
    projection::{Cell, Database, ReadModelDescriptor, ReadModels, Sql},
    query::{QueryDescriptor, QueryParameters},
};
use serde_json::{Value as Json, json};

use super::filled_database::fill_database;
use super::note_board::NoteBoard;
use super::postgres_server::PostgresServer;

/// An entry of a diary about an animal, or about none.
#[derive(Debug, Clone, Event)]
struct EntryWrittenEvent {
    number: u32,
    animal: Option<String>,
    species: String,
    grams: i64,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "animals")]
struct Animal {
    #[key]
    name: String,
    species: String,
    #[visible(role = "keeper")]
    grams: Option<i64>,
}

#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "entries")]
struct Entry {
    #[key]
    number: u32,
    animal: Option<String>,
}

#[projection]
impl Animal {
    #[key(species)]
    fn written(event: EntryWrittenEvent) -> Self {
        Self {
            name: event.species.clone(),
            species: format!("kind of {}", event.species),
            grams: Some(event.grams),
        }
    }
}

#[projection]
impl Entry {
    #[key(number)]
    fn written(event: EntryWrittenEvent) -> Self {
        Self {
            number: event.number,
            animal: event.animal,
        }
    }
}

/// Lists the entries with their animals.
#[derive(Query)]
#[query(path = "/diary", paged)]
struct ReadDiary {}

impl QueryHandler for ReadDiary {
    type Output = Page<(u32, Option<String>, Option<i64>)>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let entries = context.rows::<Entry>().page(context.paging()).await?;
        let combine = |entry: Entry, animal: Option<&Animal>| {
            let species = animal.map(|animal| animal.species.clone());
            (
                entry.number,
                species,
                animal.and_then(|animal| animal.grams),
            )
        };
        context
            .join(entries, |entry| entry.animal.as_ref(), combine)
            .await
    }
}

/// Lists the species by the weights of their entries.
#[derive(Query)]
#[query(path = "/weights", paged)]
struct ListWeights {
    descending: bool,
}

const WEIGHTS: Sql = Sql {
    sqlite: "SELECT a.grams AS sort, e.number AS key, json_object('name', a.name) AS item
        FROM entries e JOIN animals a ON a.name = e.animal WHERE e.number >= ?1",
    postgres: "SELECT a.grams AS sort, e.number AS key, json_build_object('name', a.name) AS item
        FROM entries e JOIN animals a ON a.name = e.animal WHERE e.number >= $1",
};

impl QueryHandler for ListWeights {
    type Output = Page<std::collections::BTreeMap<String, String>>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let from = vec![Cell::Integer(2)];
        if self.descending {
            context.sql_page_descending(WEIGHTS, from).await
        } else {
            context.sql_page(WEIGHTS, from).await
        }
    }
}

/// Lists the means of the weights, which are texts, floats and numbers of PostgreSQL.
#[derive(Query)]
#[query(path = "/means", paged)]
struct ListMeans {
    by: String,
}

const BY_MEAN: Sql = Sql {
    sqlite: "SELECT avg(grams) / 3 AS sort, name AS key, json_quote(name) AS item FROM animals GROUP BY name",
    postgres: "SELECT avg(grams) / 3 AS sort, name AS key, to_json(name) AS item FROM animals GROUP BY name",
};
const BY_NAME: Sql = Sql {
    sqlite: "SELECT name AS sort, grams AS key, json_quote(name) AS item FROM animals",
    postgres: "SELECT name AS sort, grams AS key, to_json(name) AS item FROM animals",
};
const BY_LONG_NAME: Sql = Sql {
    sqlite: "SELECT printf('%0600d', grams) AS sort, name AS key, json_quote(name) AS item FROM animals",
    postgres: "SELECT lpad(grams::text, 600, '0') AS sort, name AS key, to_json(name) AS item FROM animals",
};

// A cursor has 1,000 characters at most, which leave room for a text of 463 characters.
const BY_LONGEST_NAME: Sql = Sql {
    sqlite: "SELECT printf('%0463d', grams) AS sort, name AS key, json_quote(name) AS item FROM animals",
    postgres: "SELECT lpad(grams::text, 463, '0') AS sort, name AS key, to_json(name) AS item FROM animals",
};
const BY_TOO_LONG_NAME: Sql = Sql {
    sqlite: "SELECT printf('%0464d', grams) AS sort, name AS key, json_quote(name) AS item FROM animals",
    postgres: "SELECT lpad(grams::text, 464, '0') AS sort, name AS key, to_json(name) AS item FROM animals",
};
// SQLite has no booleans.
const BY_NO_TEXT_OR_NUMBER: Sql = Sql {
    sqlite: "SELECT grams AS sort, NULL AS key, json_quote(name) AS item FROM animals",
    postgres: "SELECT grams > 700 AS sort, name AS key, to_json(name) AS item FROM animals",
};

impl QueryHandler for ListMeans {
    type Output = Page<String>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let statement = match self.by.as_str() {
            "mean" => BY_MEAN,
            "name" => BY_NAME,
            "longest" => BY_LONGEST_NAME,
            "too_long" => BY_TOO_LONG_NAME,
            "truth" => BY_NO_TEXT_OR_NUMBER,
            _ => BY_LONG_NAME,
        };
        context.sql_page(statement, vec![]).await
    }
}

/// The diary in one database.
struct Diary {
    database: Database,
    _server: Option<PostgresServer>,
}

impl Diary {
    async fn fill(server: Option<PostgresServer>) -> Self {
        let models = ReadModels::new([
            ReadModelDescriptor::of::<Animal>(),
            ReadModelDescriptor::of::<Entry>(),
        ]);
        let entry = |number, animal: Option<&str>, species: &str, grams| EntryWrittenEvent {
            number,
            animal: animal.map(str::to_owned),
            species: species.to_owned(),
            grams,
        };
        let entries = [
            entry(1, Some("owl"), "owl", 700),
            entry(2, Some("fox"), "fox", 9_001),
            entry(3, None, "elk", 9_000),
            entry(4, Some("owl"), "bee", 1),
            entry(5, Some("unicorn"), "ant", 1),
            entry(6, Some("elk"), "cat", 5_000),
        ];
        let database = fill_database(server.as_ref(), models.unwrap(), "/diary", entries).await;
        let _server = server;
        Self { database, _server }
    }

    async fn ask<Q: QueryHandler>(
        &self,
        parameters: &[(&str, &str)],
        caller: &Caller,
    ) -> Result<Json, QueryError> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let parameters = QueryParameters::new(parameters.iter().map(owned)).unwrap();
        let query = (QueryDescriptor::of::<Q>().parse)(parameters, caller)?;
        let output = query(&self.database, &Services::default()).await?;
        Ok(serde_json::from_str(output.get()).unwrap())
    }

    /// Returns the items of all pages, each of which has `limit` items.
    async fn items<Q: QueryHandler>(&self, parameter: (&str, &str), limit: &str) -> Vec<Json> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let pairs = [parameter, ("limit", limit)].into_iter();
            let pairs = pairs.chain(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let pairs: Vec<_> = pairs.filter(|(name, _)| !name.is_empty()).collect();
            let page = self.ask::<Q>(&pairs, &Caller::Anyone).await.unwrap();
            items.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return items,
            }
        }
    }
}

#[tokio::test]
async fn a_page_has_the_rows_of_another_read_model_whose_keys_it_contains() {
    for location in NoteBoard::locations() {
        let diary = Diary::fill(location).await;
        let expected = [
            json!([1, "kind of owl", 700]),
            json!([2, "kind of fox", 9_001]),
            json!([3, null, null]),
            json!([4, "kind of owl", 700]),
            json!([5, null, null]),
            json!([6, "kind of elk", 9_000]),
        ];
        for limit in ["1", "4", "6", "100"] {
            assert_eq!(diary.items::<ReadDiary>(("", ""), limit).await, expected);
        }
        let total = [("limit", "2"), ("total", "true")];
        let guest = Caller::authenticated("somebody", ["guest"]);
        let page = diary.ask::<ReadDiary>(&total, &guest).await.unwrap();
        assert_eq!(page["total"], 6);
        // The other read model hides the weight.
        let hidden = json!([[1, "kind of owl", null], [2, "kind of fox", null]]);
        assert_eq!(page["items"], hidden);
    }
}

#[tokio::test]
async fn hand_written_sql_is_paged() {
    for location in NoteBoard::locations() {
        let diary = Diary::fill(location).await;
        let names = |names: &[&str]| -> Vec<Json> {
            names.iter().map(|name| json!({ "name": name })).collect()
        };
        for limit in ["1", "2", "3", "100"] {
            let ascending = diary.items::<ListWeights>(("descending", "false"), limit);
            assert_eq!(ascending.await, names(&["owl", "elk", "fox"]));
            let descending = diary.items::<ListWeights>(("descending", "true"), limit);
            assert_eq!(descending.await, names(&["fox", "elk", "owl"]));
            // Two means are equal, so that their keys decide.
            let by_mean = diary.items::<ListMeans>(("by", "mean"), limit).await;
            assert_eq!(by_mean, ["ant", "bee", "owl", "cat", "elk", "fox"]);
            let by_name = diary.items::<ListMeans>(("by", "name"), limit).await;
            assert_eq!(by_name, ["ant", "bee", "cat", "elk", "fox", "owl"]);
        }
        let counted = [("descending", "true"), ("limit", "1"), ("total", "true")];
        let page = diary
            .ask::<ListWeights>(&counted, &Caller::Anyone)
            .await
            .unwrap();
        assert_eq!(page["total"], 3);
    }
}

#[tokio::test]
async fn a_cursor_of_another_statement_is_refused() {
    for location in NoteBoard::locations() {
        let diary = Diary::fill(location).await;
        let page = [("by", "mean"), ("limit", "1")];
        let page = diary
            .ask::<ListMeans>(&page, &Caller::Anyone)
            .await
            .unwrap();
        let cursor = page["nextCursor"].as_str().unwrap();
        let by_name = [("by", "name"), ("cursor", cursor)];
        let by_name = diary.ask::<ListMeans>(&by_name, &Caller::Anyone).await;
        let descending = [("descending", "true"), ("limit", "1")];
        let descending = diary.ask::<ListWeights>(&descending, &Caller::Anyone).await;
        let descending = descending.unwrap();
        let cursor = descending["nextCursor"].as_str().unwrap();
        let ascending = [("descending", "false"), ("cursor", cursor)];
        let ascending = diary.ask::<ListWeights>(&ascending, &Caller::Anyone).await;
        let rows = diary
            .ask::<ReadDiary>(&[("cursor", cursor)], &Caller::Anyone)
            .await;
        for refused in [by_name, ascending, rows] {
            let error = refused.unwrap_err();
            let is_named =
                matches!(&error, QueryError::Invalid { parameter, .. } if parameter == "cursor");
            assert!(is_named, "{error}");
        }
        for by in ["long", "too_long"] {
            let page = [("by", by), ("limit", "1")];
            let page = diary.ask::<ListMeans>(&page, &Caller::Anyone).await;
            assert!(matches!(page, Err(QueryError::LongSortValues)), "{by}");
        }
        let longest = diary.items::<ListMeans>(("by", "longest"), "1").await;
        assert_eq!(longest, ["ant", "bee", "owl", "cat", "elk", "fox"]);
        let whole = diary
            .ask::<ListMeans>(&[("by", "long")], &Caller::Anyone)
            .await;
        assert_eq!(whole.unwrap()["items"].as_array().unwrap().len(), 6);
    }
}

#[tokio::test]
async fn the_first_page_refuses_what_is_no_text_and_no_number() {
    for location in NoteBoard::locations() {
        let diary = Diary::fill(location).await;
        let by = [("by", "truth")];
        let page = diary.ask::<ListMeans>(&by, &Caller::Anyone).await;
        assert!(matches!(page, Err(QueryError::UnsortableValue)), "{page:?}");
    }
}
