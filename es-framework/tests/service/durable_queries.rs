//! Read models in a file or in PostgreSQL resume at their checkpoint, survive kills, and have one
//! writer at a time.

use std::{path::Path, time::Duration};

use es_framework::Settings;
use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::{client, get, json_of, new_client, post},
    postgres_server::PostgresServer,
    running_service::{RunningService, TOKEN, book},
    service_process::ServiceProcess,
    store_server::StoreServer,
};

/// Kills of the service in one test.
const ROUNDS: u64 = 30;
/// Purchases after which the test queries each of two instances.
const PURCHASES: usize = 100;
/// Clients that purchase concurrently.
const CLIENTS: usize = 4;

fn url_of(file: &Path) -> String {
    format!("sqlite:{}", file.display())
}

async fn ask(url: &str, path: &str, position: &str) -> Value {
    let request = client().get(format!("{url}{path}"));
    let answer = request.header("event-position", position).send().await;
    let answer = answer.unwrap();
    assert!(answer.status().is_success(), "{path} {}", answer.status());
    json_of(answer).await
}

/// Returns all rows of the stock, those of substring searches, and the totals of some.
async fn everything(library: &ServiceProcess) -> Vec<Value> {
    let last = library.stored_lines().await.lines().count() - 1;
    let (last, mut rows) = (last.to_string(), Vec::new());
    for path in [
        "/books?limit=1000",
        "/books?limit=100&title=olume%201",
        "/books?limit=1000&title=me%204%20of%20ri",
        "/books?limit=1000&title=ings&isLent=false",
        "/books?limit=1000&title=WIND&isLent=true",
        "/books?limit=1000&title=in&author=tolk",
        "/books?limit=1000&title=a%20title%20that%20none%20has",
    ] {
        let mut page = ask(&library.url, path, &last).await;
        loop {
            rows.extend(page["items"].as_array().unwrap().iter().cloned());
            let Some(cursor) = page["nextCursor"].as_str() else {
                break;
            };
            page = ask(&library.url, &format!("{path}&cursor={cursor}"), &last).await;
        }
    }
    for part in ["ings", "2%20of", "in"] {
        let path = format!("/books?limit=1&total=true&title={part}");
        rows.push(ask(&library.url, &path, &last).await["total"].clone());
    }
    rows
}

/// Purchases, borrows and returns until the service is gone.
async fn work(url: &str) {
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
        let reader = json!({ "reader": id });
        let go_on = send("/books/purchase", copy).await
            && send(&format!("/books/{id}/borrow"), reader).await
            && (number % 3 == 0 || send(&format!("/books/{id}/return"), json!({})).await);
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
    let settings = [("DATABASE_URL", database)];
    for round in 0..ROUNDS {
        let mut library = ServiceProcess::start_on_data(&data, &settings);
        let url = library.url.clone();
        let workers = (0..16).map(|_| work(&url));
        let killed = async {
            if round % 2 == 1 {
                // Some kills then happen during a rebuild or at its end.
                let rebuild = format!("{url}/actuator/projections/book_copies/rebuild");
                let _ = client().post(rebuild).bearer_auth(TOKEN).send().await;
            }
            tokio::time::sleep(Duration::from_millis(round * 37 % 101)).await;
            library.process.kill();
        };
        tokio::join!(join_all(workers), killed);
    }
    let durable = ServiceProcess::start_on_data(&data, &settings);
    let kept = everything(&durable).await;
    assert!(!durable.process.log().contains("panicked"));
    assert!(durable.process.stop().success());
    let fresh = ServiceProcess::start_on_data(&data, &[]);
    let rebuilt = everything(&fresh).await;
    assert!(rebuilt.len() > 100, "{} rows", rebuilt.len());
    for (kept, rebuilt) in kept.iter().zip(&rebuilt) {
        assert_eq!(kept, rebuilt);
    }
    assert_eq!(kept.len(), rebuilt.len());
}

/// Waits for a purchase of a new copy in the read model, and returns all copies.
async fn purchase_and_look(library: &RunningService) -> (Uuid, Vec<Value>) {
    let id = Uuid::new_v4();
    let purchased = library.purchase(&book(id)).await;
    let position = purchased.header("event-position").unwrap();
    let page = ask(&library.url, "/books", position).await;
    (id, page["items"].as_array().unwrap().clone())
}

#[tokio::test]
async fn another_event_store_has_the_rows_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let database = url_of(&folder.path().join("stock.db"));
    let settings = || Settings::default().database_url(database.parse().unwrap());
    let first = RunningService::start_with(settings());
    for number in 1..4 {
        assert_eq!(purchase_and_look(&first).await.1.len(), number);
    }
    drop(first);
    let second = RunningService::start_with(settings());
    let (id, rows) = purchase_and_look(&second).await;
    assert_eq!((rows.len(), &rows[0]["id"]), (1, &json!(id)));
}

/// Starts two instances on one event store and one database.
fn start_two(store: &StoreServer, database: &str) -> [ServiceProcess; 2] {
    let url = store.url();
    let settings = [
        ("EVENT_STORE_URL", url.as_str()),
        ("DATABASE_URL", database),
    ];
    [(); 2].map(|()| ServiceProcess::start(&settings))
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
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let url = server.url().parse().unwrap();
    let library = RunningService::start_with(Settings::default().database_url(url));
    for number in 1..4 {
        assert_eq!(purchase_and_look(&library).await.1.len(), number);
        server.cut_off_the_writer();
    }
    library.purchase(&book(Uuid::new_v4())).await;
    let rows = eventually("the rows are up to date again", async || {
        let request = client().get(format!("{}/books", library.url));
        let answer = request.header("event-position", "3").send().await.unwrap();
        let is_there = answer.status().is_success();
        is_there.then_some(json_of(answer).await)
    })
    .await;
    assert_eq!(rows["items"].as_array().unwrap().len(), 4);
}

async fn purchase(library: &ServiceProcess, id: Uuid) -> reqwest::Response {
    let url = format!("{}/books/purchase", library.url);
    let answer = post(&url, book(id).to_string()).await;
    assert!(answer.status().is_success());
    answer
}

/// Purchases copies and queries each instance for them. Returns the number of copies that were found.
async fn read_own_writes(libraries: &[ServiceProcess; 2], purchases: usize) -> usize {
    let clients = (0..CLIENTS).map(async |_| {
        let mut found = 0;
        for number in 0..purchases / CLIENTS {
            let id = Uuid::new_v4();
            let answer = purchase(&libraries[number % 2], id).await;
            let position = answer.headers()["event-position"].to_str().unwrap();
            for library in libraries {
                let copy = ask(&library.url, &format!("/books/{id}"), position).await;
                assert_eq!(copy["id"], json!(id));
                found += 1;
            }
        }
        found
    });
    join_all(clients).await.into_iter().sum()
}

#[tokio::test]
#[ignore = "takes a minute: cargo test --release -p es-framework --test service -- --ignored ten_thousand"]
async fn ten_thousand_of_ten_thousand_queries_show_what_their_caller_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let store = StoreServer::start(&folder.path().join("data"), 0);
    let libraries = start_two(&store, &server.url());
    assert_eq!(read_own_writes(&libraries, 5_000).await, 10_000);
}

async fn take_over(folder: &Path, database: &str) {
    let store = StoreServer::start(&folder.join("data"), 0);
    let libraries = start_two(&store, database);
    let found = read_own_writes(&libraries, PURCHASES).await;
    assert_eq!(found, 2 * PURCHASES);
    let stands_by = |library: &ServiceProcess| library.process.log().contains("stands by");
    let [first, second] = libraries;
    let (mut projecting, left) = if stands_by(&first) {
        (second, first)
    } else {
        (first, second)
    };
    assert!(!stands_by(&projecting) && stands_by(&left));
    projecting.process.kill();
    let id = Uuid::new_v4();
    purchase(&left, id).await;
    eventually("the other instance takes over", async || {
        let answer = get(&format!("{}/books/{id}", left.url)).await;
        answer.status().is_success().then_some(())
    })
    .await;
    let last = PURCHASES.to_string();
    let page = ask(&left.url, "/books?limit=1&total=true", &last).await;
    assert_eq!(page["total"], PURCHASES + 1);
}
