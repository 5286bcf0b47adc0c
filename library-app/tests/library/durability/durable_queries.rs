//! Read models in a file or in PostgreSQL resume at their checkpoint, survive kills, and have one
//! writer at a time.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::support::postgres_server::PostgresServer;
use crate::support::{
    Library, Process, TOKEN, book, client, eventually, get, json_of, new_client, post,
};
use serde_json::{Value, json};
use uuid::Uuid;

/// Kills of the library in one test.
const ROUNDS: u64 = 50;
/// Purchases after which the test queries each of two libraries.
const PURCHASES: usize = 100;
/// Clients that purchase concurrently.
const CLIENTS: usize = 4;

fn library(folder: &Path, database: &str) -> Library {
    Library::embedded_with(folder, &[("DATABASE_URL", database)])
}

fn url_of(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

async fn ask(library: &Library, path: &str, position: &str) -> Value {
    let request = client()
        .get(format!("{}{path}", library.url))
        .header("event-position", position);
    let answer = request.send().await.unwrap();
    assert!(answer.status().is_success(), "{path} {}", answer.status());
    json_of(answer).await
}

/// All rows of the stock, all titles and all loans, page after page.
async fn everything(library: &Library) -> Vec<Value> {
    let paths = [
        "/books?limit=1000",
        "/books/catalog?limit=1",
        "/loans/overdue?limit=1000",
    ];
    all_of(library, &paths).await
}

/// The results of substring searches.
async fn searched(library: &Library) -> Vec<Value> {
    let paths = [
        "/books?limit=100&title=olume%201",
        "/books?limit=1000&title=me%204%20of%20ri",
        "/books?limit=1000&title=ings&status=removed",
        "/books?limit=1000&title=WIND&status=lent",
        "/books?limit=1000&title=in&author=tolk",
        "/books?limit=1000&title=a%20title%20that%20none%20has",
        "/books/catalog?limit=1000&title=of%20win",
    ];
    let mut found = all_of(library, &paths).await;
    let last = (library.stored_events().await.len() - 1).to_string();
    for part in ["ings", "2%20of", "in"] {
        let path = format!("/books?limit=1&total=true&title={part}");
        found.push(ask(library, &path, &last).await["total"].clone());
    }
    found
}

async fn all_of(library: &Library, paths: &[&str]) -> Vec<Value> {
    let last = (library.stored_events().await.len() - 1).to_string();
    let mut rows = Vec::new();
    for path in paths {
        let mut page = ask(library, path, &last).await;
        loop {
            rows.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(cursor) = page["nextCursor"].as_str() else {
                break;
            };
            page = ask(library, &format!("{path}&cursor={cursor}"), &last).await;
        }
    }
    rows
}

/// Purchases, borrows and returns until the library is gone.
async fn work(url: &str, reader: Uuid) {
    let client = new_client().build().unwrap();
    let send = async |path: &str, body: Value| {
        let request = client.post(format!("{url}{path}"));
        let request = request.header("content-type", "application/json");
        request.body(body.to_string()).send().await.is_ok()
    };
    for number in 0_usize.. {
        let id = Uuid::new_v4();
        let mut copy = book(id);
        let series = ["Rings", "Winds"][number % 2];
        copy["title"] = format!("Volume {} of {series}", number % 7).into();
        let go_on = send("/books/purchase", copy).await
            && send("/books/borrow", json!({ "id": id, "reader": reader })).await
            && send("/books/return", json!({ "id": id })).await
            && send("/books/remove", json!({ "id": id, "reason": "torn" })).await;
        if !go_on {
            return;
        }
    }
}

#[tokio::test]
async fn rows_in_a_file_are_those_of_a_fresh_rebuild_after_kills_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let database = url_of(&folder.path().join("stock.db"));
    survive_kills(folder.path(), &database).await;
}

#[tokio::test]
async fn rows_in_postgresql_are_those_of_a_fresh_rebuild_after_kills_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    survive_kills(folder.path(), &server.url()).await;
}

async fn survive_kills(folder: &Path, database: &str) {
    let data = folder.join("data");
    let readers: Vec<_> = (0..16).map(|_| Uuid::new_v4()).collect();
    for round in 0..ROUNDS {
        let mut library = library(&data, database);
        if round == 0 {
            for id in &readers {
                let body = json!({ "id": id, "name": "Ada" }).to_string();
                let answer = post(&format!("{}/readers/register", library.url), body).await;
                assert!(answer.status().is_success());
            }
        }
        let url = library.url.clone();
        let workers = readers.iter().map(|reader| work(&url, *reader));
        let killed = async {
            if round % 2 == 1 {
                // Some kills then happen during a rebuild or at its end.
                let rebuild = format!("{url}/actuator/projections/book_copies/rebuild");
                let _ = client().post(rebuild).bearer_auth(TOKEN).send().await;
            }
            tokio::time::sleep(Duration::from_millis(round * 37 % 101)).await;
            library.process.kill();
        };
        tokio::join!(futures_util::future::join_all(workers), killed);
    }
    let durable = library(&data, database);
    let mut kept = everything(&durable).await;
    kept.extend(searched(&durable).await);
    assert!(!durable.process.log().contains("panicked"));
    assert!(durable.process.stop().success());
    let fresh = library(&data, "sqlite::memory:");
    let mut rebuilt = everything(&fresh).await;
    assert!(
        rebuilt.len() > 20,
        "the rounds were too short: {}",
        rebuilt.len()
    );
    rebuilt.extend(searched(&fresh).await);
    for (kept, rebuilt) in kept.iter().zip(&rebuilt) {
        assert_eq!(kept, rebuilt);
    }
    assert_eq!(kept.len(), rebuilt.len());
}

#[tokio::test]
async fn another_event_store_has_the_rows_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let database = url_of(&folder.path().join("stock.db"));
    let first = library(&folder.path().join("one"), &database);
    for _ in 0..3 {
        first.purchase(&book(Uuid::new_v4())).await;
    }
    assert_eq!(everything(&first).await.len(), 4);
    assert!(first.process.stop().success());
    let second = library(&folder.path().join("two"), &database);
    let id = Uuid::new_v4();
    second.purchase(&book(id)).await;
    let rows = everything(&second).await;
    assert_eq!((rows.len(), &rows[0]["id"]), (2, &json!(id)));
    assert!(
        second
            .process
            .log()
            .contains("contains events that the event store lacks")
    );
}

/// Two libraries on one event store and one database.
fn two(folder: &Path, database: &str) -> ((Process, String), Library, Library) {
    let store = crate::support::start_event_store(&folder.join("data"), 0);
    let settings = [("DATABASE_URL", database)];
    let first = Library::with_store_and(&store.1, &settings);
    let second = Library::with_store_and(&store.1, &settings);
    (store, first, second)
}

#[tokio::test]
async fn of_two_libraries_on_a_file_one_projects_and_the_other_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let database = url_of(&folder.path().join("stock.db"));
    take_over(folder.path(), &database).await;
}

#[tokio::test]
async fn of_two_libraries_on_postgresql_one_projects_and_the_other_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    take_over(folder.path(), &server.url()).await;
}

#[tokio::test]
async fn a_library_that_is_cut_off_from_postgresql_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let library = library(folder.path(), &server.url());
    for _ in 0..3 {
        library.purchase(&book(Uuid::new_v4())).await;
        assert!(!everything(&library).await.is_empty());
        server.cut_off_the_writer();
    }
    library.purchase(&book(Uuid::new_v4())).await;
    let rows = eventually("the rows are up to date again", async || {
        let answer = client().get(format!("{}/books", library.url));
        let answer = answer.header("event-position", "3").send().await.unwrap();
        answer
            .status()
            .is_success()
            .then_some(json_of(answer).await)
    })
    .await;
    assert_eq!(rows["items"].as_array().unwrap().len(), 4);
}

/// Purchases copies and queries each library for them. Returns the number of copies that were found.
async fn read_own_writes(libraries: [&Library; 2], purchases: usize) -> usize {
    let clients = (0..CLIENTS).map(async |_| {
        let mut found = 0;
        for number in 0..purchases / CLIENTS {
            let id = Uuid::new_v4();
            let answer = libraries[number % 2].purchase(&book(id)).await;
            let position = answer.headers()["event-position"].to_str().unwrap();
            for library in libraries {
                let copy = ask(library, &format!("/books/{id}"), position).await;
                assert_eq!(copy["id"], json!(id));
                found += 1;
            }
        }
        found
    });
    let found = futures_util::future::join_all(clients).await;
    found.into_iter().sum()
}

#[tokio::test]
#[ignore = "takes a minute: cargo test --release -- --ignored ten_thousand"]
async fn ten_thousand_of_ten_thousand_queries_show_what_their_caller_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let (_store, first, second) = two(folder.path(), &server.url());
    assert_eq!(read_own_writes([&first, &second], 5_000).await, 10_000);
}

async fn take_over(folder: &Path, database: &str) {
    let (_store, first, second) = two(folder, database);
    let found = read_own_writes([&first, &second], PURCHASES).await;
    assert_eq!(found, 2 * PURCHASES);
    let stands_by = |library: &Library| library.process.log().contains("stands by");
    let (mut projecting, left) = if stands_by(&first) {
        (second, first)
    } else {
        (first, second)
    };
    assert!(!stands_by(&projecting) && stands_by(&left));
    projecting.process.kill();
    let killed = Instant::now();
    let id = Uuid::new_v4();
    assert!(left.purchase(&book(id)).await.status().is_success());
    eventually("the other library takes over", async || {
        let answer = get(&format!("{}/books/{id}", left.url)).await;
        answer.status().is_success().then_some(())
    })
    .await;
    println!("the other library took over after {:?}", killed.elapsed());
    let last = PURCHASES.to_string();
    let page = ask(&left, "/books?limit=1&total=true", &last).await;
    assert_eq!(page["total"], PURCHASES + 1);
}
