//! A caller whose queries keep the database busy, and everyone else.

use std::{
    net::{IpAddr, Ipv4Addr},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    http::{Request, StatusCode},
};
use es_catalog::Catalog;
use es_macros::Query;
use es_net::PeerAddress;
use es_read::{
    projection::Sql,
    query::{QueryContext, QueryDescriptor, QueryError, QueryHandler},
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use serde_json::Value;
use tokio::time::timeout;

use super::{Answer, oak, plant, send, serve_with};
use crate::{live::LiveQuerySettings, test_fixture::PlantTreeCommand};

/// Much longer than a cheap query takes, and shorter than a query waits for a connection.
const PATIENCE: Duration = Duration::from_secs(2);
/// Counts until the database ends the query.
const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

/// Counts for a long time.
#[derive(Query)]
#[es(crate = "crate::tests::facade")]
#[query(path = "/counting")]
struct CountForLong {}

impl QueryHandler for CountForLong {
    type Output = Vec<Value>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Vec<Value>, QueryError> {
        let statement = Sql {
            sqlite: ENDLESS,
            postgres: ENDLESS,
        };
        context.sql(statement, Vec::new()).await
    }
}

async fn ask(garden: &Router, path: &str, last_byte: u8) -> Answer {
    let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, last_byte));
    let request = Request::get(path)
        .extension(PeerAddress(address))
        .header("host", "garden");
    send(garden, request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn expensive_queries_of_one_caller_keep_nobody_else_waiting() {
    let catalog = Catalog::builder().command::<PlantTreeCommand>();
    let queries = [QueryDescriptor::of::<CountForLong>()];
    let garden = serve_with(catalog, queries, LiveQuerySettings::default()).await;
    plant(&garden, "t1", &oak()).await;
    let position = Request::get("/trees/t1").header("event-position", "0");
    let found = send(&garden, position.body(Body::empty()).unwrap()).await;
    assert_eq!(found.status, StatusCode::OK, "{}", found.body);

    let attacker = garden.clone();
    let attack = tokio::spawn(async move {
        let queries = (0..24).map(|_| ask(&attacker, "/counting", 1));
        // One of them runs, until the database ends it. The others are refused before.
        let refused = FuturesUnordered::from_iter(queries).take(23);
        refused.collect::<Vec<_>>().await
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    for (path, caller) in [
        ("/actuator/health/readiness", 1),
        ("/actuator/health", 2),
        // By its key, even for the caller that uses its share.
        ("/trees/t1", 1),
        ("/trees/t1", 2),
        ("/trees?limit=1&total=true", 2),
    ] {
        let answer = timeout(PATIENCE, ask(&garden, path, caller)).await;
        let answer = answer.unwrap_or_else(|_| panic!("{path} of {caller} waits"));
        assert_eq!(answer.status, StatusCode::OK, "{path} {}", answer.body);
    }
    for refused in attack.await.unwrap() {
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        let kind = refused.json()["type"].clone();
        assert!(kind.as_str().unwrap().ends_with("share-in-use"), "{kind}");
        assert!(!refused.header("retry-after").is_empty());
    }
}

#[tokio::test]
async fn one_caller_does_not_open_all_live_queries() {
    let live = LiveQuerySettings {
        max_open: 12,
        ..LiveQuerySettings::default()
    };
    let catalog = Catalog::builder().command::<PlantTreeCommand>();
    let garden = serve_with(catalog, [], live).await;
    let open = async |last_byte| {
        let address = IpAddr::V4(Ipv4Addr::new(192, 0, 2, last_byte));
        let request = Request::get("/trees")
            .extension(PeerAddress(address))
            .header("host", "garden");
        let request = request.header("accept", "text/event-stream");
        let request = request.body(Body::empty()).unwrap();
        tower::ServiceExt::oneshot(garden.clone(), request)
            .await
            .unwrap()
    };
    let mut first = Vec::new();
    for _ in 0..6 {
        first.push(open(1).await);
    }
    assert!(first.iter().all(|one| one.status() == StatusCode::OK));
    assert_eq!(open(1).await.status(), StatusCode::TOO_MANY_REQUESTS);
    let other = open(2).await;
    assert_eq!(other.status(), StatusCode::OK);
    // A stream that ends frees its part of the share.
    drop(first);
    assert_eq!(open(1).await.status(), StatusCode::OK);
}
