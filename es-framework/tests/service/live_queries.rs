//! Live queries of a running service.

use std::time::Duration;

use es_framework::Settings;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::{get, json_of},
    live_query::{LiveQuery, request_stream},
    running_service::{RunningService, book},
};

async fn ask(library: &RunningService, path: &str, last_event_id: Option<&str>) -> Response {
    request_stream(&library.url, path, last_event_id).await
}

fn has(count: usize) -> impl Fn(&Value) -> bool {
    move |page| page["items"].as_array().unwrap().len() == count
}

async fn problem(answer: Response, status: StatusCode, name: &str) {
    assert_eq!(answer.status(), status);
    let is_late = status == StatusCode::SERVICE_UNAVAILABLE;
    assert_eq!(answer.headers().contains_key("retry-after"), is_late);
    let problem = json_of(answer).await;
    assert!(
        problem["type"].as_str().unwrap().ends_with(name),
        "{problem}"
    );
}

#[tokio::test]
async fn an_answer_comes_at_once_and_again_whenever_it_changes() {
    let library = RunningService::start();
    let mut stock = LiveQuery::open(&library.url, "/books").await;
    let first = stock.next().await;
    assert_eq!(first.data, json!({"items": []}));
    let page = include_str!("../../../docs/src/how-to/live-query.md");
    let (_, tag) = first.id.split_once('-').unwrap();
    assert!(page.contains(&format!("-{tag}\ndata: {{\"items\":[]}}\n")));
    let id = Uuid::new_v4();
    library.purchase(&book(id)).await;
    let page = stock.until(has(1)).await.data;
    assert_eq!(page["items"][0]["id"], json!(id));
    let mut copy = LiveQuery::open(&library.url, &format!("/books/{id}")).await;
    assert_eq!(copy.next().await.data["isLent"], false);
    let borrow = format!("/books/{id}/borrow");
    let borrowed = library.client.post(&borrow, &json!({ "reader": id })).await;
    assert_eq!(borrowed.unwrap().status, 204);
    assert_eq!(copy.next().await.data["isLent"], true);
    stock.until(|page| page["items"][0]["isLent"] == true).await;
}

#[tokio::test]
async fn answers_never_go_back_and_the_last_one_has_everything() {
    let library = RunningService::start();
    let mut stock = LiveQuery::open(&library.url, "/books?limit=1000").await;
    let purchased = async {
        for _ in 0..200 {
            library.purchase(&book(Uuid::new_v4())).await;
        }
    };
    let watched = async {
        let mut seen = 0;
        while seen < 200 {
            let page = stock.next().await.data;
            let count = page["items"].as_array().unwrap().len();
            assert!(count > seen || seen == 0, "{count} after {seen}");
            seen = count;
        }
    };
    tokio::join!(purchased, watched);
}

#[tokio::test]
async fn who_comes_back_goes_on_after_what_was_seen() {
    let library = RunningService::start();
    library.purchase(&book(Uuid::new_v4())).await;
    let mut stock = LiveQuery::open(&library.url, "/books").await;
    let seen = stock.until(has(1)).await.id;
    drop(stock);
    // No event was written, so the service does not send the known result again.
    let mut again = LiveQuery::of(ask(&library, "/books", Some(&seen)).await);
    let first = again.block().await.unwrap();
    assert!(!first.contains("data"), "{first}");
    library.purchase(&book(Uuid::new_v4())).await;
    assert!(has(2)(&again.next().await.data));
    // An event was written, and the service was restarted.
    let store = library.store.clone();
    drop(library);
    let library = RunningService::start_on(store, Settings::default());
    let mut later = LiveQuery::of(ask(&library, "/books", Some(&seen)).await);
    assert!(has(2)(&later.next().await.data));
}

#[tokio::test]
async fn another_instance_goes_on_where_one_was_killed() {
    let first = RunningService::start();
    let second = RunningService::start_on(first.store.clone(), Settings::default());
    first.purchase(&book(Uuid::new_v4())).await;
    let mut stock = LiveQuery::open(&first.url, "/books").await;
    let seen = stock.until(has(1)).await.id;
    drop(first);
    let mut again = LiveQuery::of(ask(&second, "/books", Some(&seen)).await);
    let begin = again.block().await.unwrap();
    assert!(!begin.contains("data"), "{begin}");
    second.purchase(&book(Uuid::new_v4())).await;
    assert!(has(2)(&again.next().await.data));
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_as_without_a_stream() {
    let library = RunningService::start();
    library.purchase(&book(Uuid::new_v4())).await;
    let bad = StatusCode::BAD_REQUEST;
    let wrong = ask(&library, "/books?colour=red", None).await;
    problem(wrong, bad, "invalid-parameter").await;
    let missing = ask(&library, &format!("/books/{}", Uuid::new_v4()), None).await;
    problem(missing, StatusCode::NOT_FOUND, "not-found").await;
    let made_up = ask(&library, "/books", Some("yesterday")).await;
    problem(made_up, bad, "invalid-header").await;
}

#[tokio::test]
async fn no_more_live_queries_are_open_than_the_setting_allows() {
    let library = RunningService::start_with(Settings::default().live_queries(2));
    let first = LiveQuery::open(&library.url, "/books").await;
    let mut second = LiveQuery::open(&library.url, "/books").await;
    let third = ask(&library, "/books", None).await;
    problem(
        third,
        StatusCode::SERVICE_UNAVAILABLE,
        "too-many-live-queries",
    )
    .await;
    // Other requests do not count, and a client that disconnects frees its place.
    let stock = get(&format!("{}/books", library.url)).await;
    assert_eq!(stock.status(), StatusCode::OK);
    drop(first);
    eventually("there is room again", async || {
        let next = ask(&library, "/books", None).await;
        (next.status() == StatusCode::OK).then_some(())
    })
    .await;
    second.next().await;
}

#[tokio::test]
async fn a_service_that_stops_ends_its_live_queries_first() {
    let settings = Settings::default().shutdown_timeout(Duration::from_secs(60));
    let library = RunningService::start_with(settings);
    let mut stock = LiveQuery::open(&library.url, "/books").await;
    stock.next().await;
    let stopped = tokio::task::spawn_blocking(|| drop(library));
    // The stream ends completely, with its last chunk.
    assert_eq!(stock.block().await, None);
    stopped.await.unwrap();
}
