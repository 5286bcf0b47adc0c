//! The rules of lending hold over several instances whose events are in PostgreSQL.

use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::json;
use uuid::Uuid;

use crate::support::{Library, book, json_of, post, postgres_server::PostgresServer};

/// The number of rounds. The long form sets `POSTGRES_ROUNDS`.
fn rounds() -> usize {
    let long = std::env::var("POSTGRES_ROUNDS").ok();
    long.map_or(10, |rounds| rounds.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loan_limit_holds_over_two_instances_on_postgresql() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let libraries = [
        Library::with_store(&server.url()),
        Library::with_store(&server.url()),
    ];
    for round in 0..rounds() {
        let reader = Uuid::new_v4();
        let url = format!("{}/readers/register", libraries[0].url);
        let registered = post(&url, json!({"id": reader, "name": "Ada"}).to_string()).await;
        assert_eq!(registered.status(), StatusCode::CREATED);
        let copies: Vec<_> = (0..16).map(|_| Uuid::new_v4()).collect();
        let purchases = copies
            .iter()
            .map(|id| async { libraries[1].purchase(&book(*id)).await });
        join_all(purchases).await;
        let borrows = copies.iter().enumerate().map(|(number, id)| {
            let url = format!("{}/books/borrow", libraries[number % 2].url);
            let body = json!({"id": id, "reader": reader}).to_string();
            async move { post(&url, body).await }
        });
        let mut lent = 0;
        for answer in join_all(borrows).await {
            let status = answer.status();
            if status == StatusCode::OK {
                lent += 1;
                continue;
            }
            let problem = json_of(answer).await["type"].to_string();
            let is_refusal =
                problem.contains("loan-limit-reached") || problem.contains("contended");
            assert!(status == StatusCode::CONFLICT && is_refusal, "{problem}");
        }
        assert!((1..=5).contains(&lent), "round {round}: {lent}");
    }
}
