//! An instance takes over the work that another instance of the service did for all: it keeps the read models
//! in PostgreSQL up to date, and reacts to events.

use reqwest::StatusCode;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    eventually::eventually,
    http_client::{client, get, json_of, post},
    postgres_server::PostgresServer,
    running_service::book,
    service_process::ServiceProcess,
};

/// The log of an instance that does not keep the read models up to date.
const STANDS_BY: &str = "another process keeps the read models up to date";
/// The log of an instance that does so after another one.
const TAKES_OVER: &str = "this process keeps the read models up to date from now on";

/// Starts an instance whose events and read models are in this database.
fn start(server: &PostgresServer) -> ServiceProcess {
    ServiceProcess::start_on_postgres(&server.url())
}

async fn purchase(library: &ServiceProcess, id: Uuid) -> reqwest::Response {
    let url = format!("{}/books/purchase", library.url);
    post(&url, book(id).to_string()).await
}

/// Purchases a copy and lends it.
async fn lend(library: &ServiceProcess) -> Uuid {
    let id = Uuid::new_v4();
    assert_eq!(purchase(library, id).await.status(), StatusCode::CREATED);
    let url = format!("{}/books/{id}/borrow", library.url);
    let lent = post(&url, json!({ "reader": id }).to_string()).await;
    assert_eq!(lent.status(), StatusCode::NO_CONTENT);
    id
}

/// Starts an instance beside one that keeps the read models up to date.
async fn start_beside(server: &PostgresServer, active: &ServiceProcess) -> ServiceProcess {
    let readiness = format!("{}/actuator/health/readiness", active.url);
    eventually("the active instance is ready", async || {
        (get(&readiness).await.status() == StatusCode::OK).then_some(())
    })
    .await;
    let library = start(server);
    eventually("the other instance stands by", async || {
        library.process.log().contains(STANDS_BY).then_some(())
    })
    .await;
    library
}

/// Returns whether a copy is lent in the read models, once they contain all events so far.
async fn is_lent(library: &ServiceProcess, copy: Uuid) -> Value {
    let other = purchase(library, Uuid::new_v4()).await;
    let query = client().get(format!("{}/books/{copy}", library.url));
    let query = query.header("event-position", other.headers()["event-position"].clone());
    let answer = eventually("the read models contain the event", async || {
        let answer = query.try_clone().unwrap().send().await.unwrap();
        (answer.status() == StatusCode::OK).then_some(answer)
    })
    .await;
    json_of(answer).await["isLent"].clone()
}

/// Lends a copy through this instance. Its read models show that, and its reaction reports the loan.
async fn does_all_work(library: &ServiceProcess, server: &PostgresServer) {
    let copy = lend(library).await;
    assert_eq!(is_lent(library, copy).await, true);
    let reports = format!(
        "SELECT count(*) FROM es_events WHERE subject = '/reports/{copy}' AND type LIKE '%LoanReportedEvent'"
    );
    eventually("the loan is reported", async || {
        (server.query(&reports).trim() == "1").then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_instance_takes_over_when_another_one_is_killed_and_when_it_stops() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let mut first = start(&server);
    let second = start_beside(&server, &first).await;
    does_all_work(&first, &server).await;
    does_all_work(&second, &server).await;
    first.process.kill();
    does_all_work(&second, &server).await;

    let third = start_beside(&server, &second).await;
    assert!(second.process.stop().success());
    does_all_work(&third, &server).await;
    let log = third.process.log();
    assert!(log.contains(TAKES_OVER), "{log}");
    // Each of the four loans is reported once, although two instances ran most of the time.
    let reports = "SELECT count(*) FROM es_events WHERE type LIKE '%LoanReportedEvent'";
    assert_eq!(server.query(reports).trim(), "4");
}

#[tokio::test]
async fn an_instance_takes_over_from_a_suspended_one_which_stands_by_when_it_continues() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let first = start(&server);
    let second = start_beside(&server, &first).await;
    does_all_work(&first, &server).await;
    first.process.signal("-STOP");
    // A server before version 14 has no limit for a session without statements.
    let purchased = purchase(&second, Uuid::new_v4()).await;
    assert_eq!(purchased.status(), StatusCode::CREATED);
    eventually("the other instance takes over", async || {
        second.process.log().contains(TAKES_OVER).then_some(())
    })
    .await;
    does_all_work(&second, &server).await;
    first.process.signal("-CONT");
    does_all_work(&first, &server).await;
    let log = first.process.log();
    assert!(log.contains(STANDS_BY), "{log}");
}

#[tokio::test]
async fn two_logs_in_schemas_of_one_database_have_their_own_read_models() {
    let Some(server) = PostgresServer::start() else {
        return;
    };
    let start_in = |schema: &str| {
        server.query(&format!("CREATE SCHEMA {schema}"));
        ServiceProcess::start_on_postgres(&format!(
            "{}?options[search_path]={schema}",
            server.url()
        ))
    };
    let libraries = ["north", "south"].map(start_in);
    for library in &libraries {
        let id = Uuid::new_v4();
        let purchased = purchase(library, id).await;
        assert_eq!(purchased.status(), StatusCode::CREATED);
        assert_eq!(is_lent(library, id).await, false);
    }
}
