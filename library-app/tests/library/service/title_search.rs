//! Searches for a substring of a title: in PostgreSQL with and without its index, and in SQLite.

use crate::support::postgres_server::PostgresServer;
use crate::support::{Library, book, client, eventually, json_of, post};
use reqwest::Response;
use serde_json::{Value, json};
use uuid::Uuid;

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

fn position(answer: &Response) -> String {
    assert!(answer.status().is_success(), "{}", answer.status());
    let position = answer.headers()["event-position"].to_str().unwrap();
    position.to_owned()
}

async fn purchase_all(library: &Library) -> (Vec<Uuid>, String) {
    let mut ids = Vec::new();
    let mut last = String::new();
    for title in TITLES {
        let mut copy = book(Uuid::new_v4());
        copy["title"] = title.into();
        last = position(&library.purchase(&copy).await);
        ids.push(copy["id"].as_str().unwrap().parse().unwrap());
    }
    (ids, last)
}

async fn found(library: &Library, query: &str, position: &str) -> (Vec<Uuid>, Value) {
    let request = client()
        .get(format!("{}/books?{query}", library.url))
        .header("event-position", position);
    let page = json_of(request.send().await.unwrap()).await;
    let items = page["items"].as_array();
    let items = items.unwrap_or_else(|| panic!("{query}: {page}")).iter();
    let ids = items.map(|item| item["id"].as_str().unwrap().parse().unwrap());
    (ids.collect(), page["total"].clone())
}

/// Searches for all substrings, alone and with all other filters.
async fn search(library: &Library, ids: &[Uuid], position: &str) {
    for (part, titles) in PARTS {
        let expected: Vec<Uuid> = titles.iter().map(|index| ids[*index]).collect();
        let (here, _) = found(library, &format!("title={part}"), position).await;
        assert_eq!(here, expected, "{part}");
        let counted = format!("title={part}&total=true&status=available&limit=1");
        let (here, total) = found(library, &counted, position).await;
        assert_eq!(total, expected.len(), "{part}");
        assert_eq!(here, expected[..expected.len().min(1)], "{part}");
        assert_eq!(
            one_by_one(library, part, position).await,
            expected,
            "{part}"
        );
        let mut expected: Vec<_> = titles.iter().map(|index| TITLES[*index]).collect();
        expected.sort_unstable();
        assert_eq!(catalog(library, part, position).await, expected, "{part}");
    }
}

/// Returns the titles of the catalog through a query of the library.
async fn catalog(library: &Library, part: &str, position: &str) -> Vec<String> {
    let (mut titles, mut cursor) = (Vec::new(), String::new());
    loop {
        let asked = format!("title={part}&author=TOLKIEN&limit=4&total=true{cursor}");
        let request = client().get(format!("{}/books/catalog?{asked}", library.url));
        let request = request.header("event-position", position);
        let page = json_of(request.send().await.unwrap()).await;
        for item in page["items"].as_array().unwrap() {
            titles.push(item["title"].as_str().unwrap().to_owned());
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => {
                assert_eq!(page["total"], titles.len(), "{part}");
                return titles;
            }
        }
    }
}

/// Returns the same with one row per page.
async fn one_by_one(library: &Library, part: &str, position: &str) -> Vec<Uuid> {
    let (mut ids, mut cursor) = (Vec::new(), String::new());
    loop {
        let url = format!("{}/books?title={part}&limit=1{cursor}", library.url);
        let request = client().get(url).header("event-position", position);
        let page = json_of(request.send().await.unwrap()).await;
        for item in page["items"].as_array().unwrap() {
            ids.push(item["id"].as_str().unwrap().parse().unwrap());
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return ids,
        }
    }
}

async fn lend(library: &Library, id: Uuid) -> String {
    let reader = Uuid::new_v4();
    let body = json!({ "id": reader, "name": "Ada" }).to_string();
    position(&post(&format!("{}/readers/register", library.url), body).await);
    let body = json!({ "id": id, "reader": reader }).to_string();
    position(&post(&format!("{}/books/borrow", library.url), body).await)
}

async fn go_on(library: &Library, ids: &[Uuid]) -> String {
    let position = lend(library, ids[4]).await;
    search_lent(library, ids, &position).await;
    position
}

async fn search_lent(library: &Library, ids: &[Uuid], position: &str) {
    let (lent, _) = found(library, "title=mma&status=lent", position).await;
    assert_eq!(lent, [ids[4]]);
    let (all, total) = found(library, "title=mma&total=true", position).await;
    assert_eq!((all, total), (vec![ids[4], ids[5]], json!(2)));
}

#[tokio::test]
async fn postgresql_finds_parts_by_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let settings = [("DATABASE_URL", &*server.url())];
    let library = Library::embedded_with(folder.path(), &settings);
    let (ids, position) = purchase_all(&library).await;
    search(&library, &ids, &position).await;
    assert_eq!(server.query(SEARCH_INDEXES).trim(), "1");
    let plan = "SET enable_seqscan = off; SET enable_indexscan = off; \
                EXPLAIN SELECT 1 FROM book_copies WHERE es_folded_title LIKE '%ring%'";
    assert!(server.query(plan).contains("Bitmap Index Scan"));
    let position = go_on(&library, &ids).await;

    // A rebuild creates a shadow table with its own index.
    let rebuilt = library.subcommand(&["projection", "rebuild", "book_copies"]);
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    eventually("the rebuilt table has an index", async || {
        let log = library.process.log();
        let is_new = log.contains("rows that were built anew");
        (is_new && server.query(SEARCH_INDEXES).trim() == "1").then_some(())
    })
    .await;
    search_lent(&library, &ids, &position).await;
}

#[tokio::test]
async fn without_the_extension_parts_are_found_in_each_row() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    server.query("CREATE ROLE librarian LOGIN; GRANT CREATE ON SCHEMA public TO librarian");
    let url = server.url().replace("postgres@", "librarian@");
    let settings = [("DATABASE_URL", url.as_str())];
    let mut library = Library::embedded_with(folder.path(), &settings);
    let (ids, position) = purchase_all(&library).await;
    eventually("the lack is logged", async || {
        let log = library.process.log();
        log.contains("searches look at each row").then_some(())
    })
    .await;
    search(&library, &ids, &position).await;
    let position = go_on(&library, &ids).await;

    // The next start with the extension creates the index. Another session keeps it waiting at first.
    server.query("CREATE EXTENSION pg_trgm");
    library.process.kill();
    let lock = "LOCK TABLE book_copies IN SHARE ROW EXCLUSIVE MODE; SELECT pg_sleep(8)";
    std::thread::scope(|scope| {
        scope.spawn(|| server.query(lock));
        std::thread::sleep(std::time::Duration::from_millis(500));
        library = Library::embedded_with(folder.path(), &settings);
    });
    eventually("the missing index is logged", async || {
        let log = library.process.log();
        log.contains("the search index was not created")
            .then_some(())
    })
    .await;
    search_lent(&library, &ids, &position).await;
    library.process.kill();
    let library = Library::embedded_with(folder.path(), &settings);
    search_lent(&library, &ids, &position).await;
    assert_eq!(server.query(SEARCH_INDEXES).trim(), "1");
}

#[tokio::test]
async fn sqlite_finds_parts_before_and_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("sqlite:{}", folder.path().join("stock.db").display());
    let settings = [("DATABASE_URL", file.as_str())];
    let mut library = Library::embedded_with(&folder.path().join("data"), &settings);
    let (ids, position) = purchase_all(&library).await;
    search(&library, &ids, &position).await;
    library.process.kill();
    let library = Library::embedded_with(&folder.path().join("data"), &settings);
    search(&library, &ids, &position).await;
    go_on(&library, &ids).await;
}
