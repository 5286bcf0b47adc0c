//! Searches for a substring of a title: in PostgreSQL with and without its index, and in SQLite.

use es_framework::{ClientResponse, Settings};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    postgres_server::PostgresServer,
    running_service::{RunningService, TOKEN, book},
};

const TITLES: [&str; 6] = [
    "The Lord of the RINGS",
    "Überfahrt: 100% 'wahr'",
    "a_b\\c",
    "a%b\\\\c",
    "Emma",
    "Emma, again",
];

/// The number of search indexes.
const SEARCH_INDEXES: &str = "SELECT count(*) FROM pg_indexes \
     WHERE tablename = 'book_copies' AND indexdef LIKE '%gin_trgm_ops%'";

/// Substrings, each with the titles that contain it.
const PARTS: [(&str, &[usize]); 15] = [
    ("ring", &[0]),
    ("%C3%BCBERFAHRT", &[1]),
    ("100%25%20%27", &[1]),
    ("a_b", &[2]),
    ("d%20of%20t", &[0]),
    ("%2C%20a", &[5]),
    ("a%25b", &[3]),
    ("b%5Cc", &[2]),
    ("b%5C%5C", &[3]),
    ("%25", &[1, 3]),
    ("emma", &[4, 5]),
    ("emma%2C", &[5]),
    ("", &[0, 1, 2, 3, 4, 5]),
    ("rings%20of", &[]),
    ("%27%29%20OR%201%3D1--", &[]),
];

/// The number of the table, which another one replaces after a rebuild.
const TABLE: &str = "SELECT 'book_copies'::regclass::oid";

fn position(answer: &ClientResponse) -> String {
    assert!(answer.status < 300, "{}", answer.text());
    answer.header("event-position").unwrap().to_owned()
}

async fn purchase_all(library: &RunningService) -> (Vec<Uuid>, String) {
    let (mut ids, mut last) = (Vec::new(), String::new());
    for title in TITLES {
        let id = Uuid::new_v4();
        let mut copy = book(id);
        copy["title"] = title.into();
        last = position(&library.purchase(&copy).await);
        ids.push(id);
    }
    (ids, last)
}

/// Returns a page of a query that waits for a position.
async fn page(library: &RunningService, query: &str, position: &str) -> Value {
    let client = library.client.clone();
    let client = client.with_header("event-position".parse().unwrap(), position);
    let page = client.get(&format!("/books?{query}")).await.unwrap();
    assert_eq!(page.status, 200, "{query}: {}", page.text());
    page.json().unwrap()
}

fn ids_of(page: &Value) -> Vec<Uuid> {
    let items = page["items"].as_array().unwrap().iter();
    let ids = items.map(|item| item["id"].as_str().unwrap().parse());
    ids.map(Result::unwrap).collect()
}

async fn found(library: &RunningService, query: &str, position: &str) -> (Vec<Uuid>, Value) {
    let page = page(library, query, position).await;
    (ids_of(&page), page["total"].clone())
}

/// Searches for all substrings, alone and with all other filters.
async fn search(library: &RunningService, ids: &[Uuid], position: &str) {
    for (part, titles) in PARTS {
        let expected: Vec<Uuid> = titles.iter().map(|index| ids[*index]).collect();
        let (here, _) = found(library, &format!("title={part}"), position).await;
        assert_eq!(here, expected, "{part}");
        let counted = format!("title={part}&total=true&isLent=false&limit=1");
        let (here, total) = found(library, &counted, position).await;
        assert_eq!(total, expected.len(), "{part}");
        assert_eq!(here, expected[..expected.len().min(1)], "{part}");
        assert_eq!(
            one_by_one(library, part, position).await,
            expected,
            "{part}"
        );
    }
}

/// Returns the copies with one row per page.
async fn one_by_one(library: &RunningService, part: &str, position: &str) -> Vec<Uuid> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = page(library, &format!("title={part}&limit=1{cursor}"), position).await;
        ids.extend(ids_of(&page));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return ids,
        }
    }
}

async fn lend(library: &RunningService, id: Uuid) -> String {
    let path = format!("/books/{id}/borrow");
    let lent = library.client.post(&path, &json!({ "reader": id })).await;
    position(&lent.unwrap())
}

async fn go_on(library: &RunningService, ids: &[Uuid]) -> String {
    let position = lend(library, ids[4]).await;
    search_lent(library, ids, &position).await;
    position
}

async fn search_lent(library: &RunningService, ids: &[Uuid], position: &str) {
    let (lent, _) = found(library, "title=mma&isLent=true", position).await;
    assert_eq!(lent, [ids[4]]);
    let (all, total) = found(library, "title=mma&total=true", position).await;
    assert_eq!((all, total), (vec![ids[4], ids[5]], json!(2)));
}

fn settings(url: &str) -> Settings {
    Settings::default().database_url(url.parse().unwrap())
}

fn restart(library: RunningService, url: &str) -> RunningService {
    let store = library.store.clone();
    drop(library);
    RunningService::start_on(store, settings(url))
}

#[tokio::test]
async fn postgresql_finds_parts_by_its_index() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let library = RunningService::start_with(settings(&server.url()));
    let (ids, position) = purchase_all(&library).await;
    search(&library, &ids, &position).await;
    assert_eq!(server.query(SEARCH_INDEXES).trim(), "1");
    let plan = "SET enable_seqscan = off; SET enable_indexscan = off; \
                EXPLAIN SELECT 1 FROM book_copies WHERE es_folded_title LIKE '%ring%'";
    assert!(server.query(plan).contains("Bitmap Index Scan"));
    let position = go_on(&library, &ids).await;

    // A rebuild creates a shadow table with its own index.
    let table = server.query(TABLE);
    let operator = library.client.clone().with_bearer(TOKEN);
    let rebuild = "/actuator/projections/book_copies/rebuild";
    assert_eq!(operator.post(rebuild, &()).await.unwrap().status, 200);
    eventually("the rebuilt table has an index", async || {
        let is_new = server.query(TABLE) != table;
        (is_new && server.query(SEARCH_INDEXES).trim() == "1").then_some(())
    })
    .await;
    search_lent(&library, &ids, &position).await;
}

#[tokio::test]
async fn without_the_extension_parts_are_found_in_each_row() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    server.query("CREATE ROLE librarian LOGIN; GRANT CREATE ON SCHEMA public TO librarian");
    let url = server.url().replace("postgres@", "librarian@");
    let library = RunningService::start_with(settings(&url));
    let (ids, position) = purchase_all(&library).await;
    search(&library, &ids, &position).await;
    assert_eq!(server.query(SEARCH_INDEXES).trim(), "0");
    let position = go_on(&library, &ids).await;

    // The next start with the extension creates the index. Another session keeps it waiting at first.
    server.query("CREATE EXTENSION pg_trgm");
    let lock = "LOCK TABLE book_copies IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(8)";
    let library = std::thread::scope(|scope| {
        scope.spawn(|| server.query(lock));
        std::thread::sleep(std::time::Duration::from_millis(500));
        restart(library, &url)
    });
    search_lent(&library, &ids, &position).await;
    assert_eq!(server.query(SEARCH_INDEXES).trim(), "0");
    let library = restart(library, &url);
    search_lent(&library, &ids, &position).await;
    assert_eq!(server.query(SEARCH_INDEXES).trim(), "1");
}

#[tokio::test]
async fn sqlite_finds_parts_before_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("stock.db").display());
    let library = RunningService::start_with(settings(&url));
    let (ids, position) = purchase_all(&library).await;
    search(&library, &ids, &position).await;
    let library = restart(library, &url);
    search(&library, &ids, &position).await;
    go_on(&library, &ids).await;
}
