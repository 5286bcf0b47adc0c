//! A batch that the database refuses, taken event by event.

use std::{collections::BTreeSet, sync::Arc};

use futures_util::TryStreamExt as _;
use serde_json::json;

use super::write;
use crate::{
    event::{EventId, Subject, Upcasters},
    garden::TREES,
    projection::{
        Database, DatabaseUrl, Positions, ReadModels,
        follower::{Followed, Follower},
    },
    store::{EventStore as _, ReadOptions, memory::MemoryStore},
};

/// Refuses an elm as long as nothing was taken; afterwards it fails.
const TROUBLE: &str = "CREATE TRIGGER trouble BEFORE INSERT ON trees WHEN new.kind = 'elm' BEGIN \
     SELECT CASE WHEN position IS NULL THEN RAISE(ABORT, 'no') ELSE json('{') END \
     FROM es_checkpoint WHERE model = 'trees'; END";

#[tokio::test]
async fn what_was_written_before_a_failure_is_not_taken_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("trees.sqlite");
    let models = ReadModels::new([TREES]).unwrap();
    let url = DatabaseUrl::File(file.clone());
    let database = Database::open(&url, &models).await.unwrap();
    assert!(database.take_lease().await.unwrap());
    let outside = rusqlite::Connection::open(file).unwrap();
    outside.execute_batch(TROUBLE).unwrap();

    let store = MemoryStore::new();
    for (number, kind) in ["oak", "elm"].into_iter().enumerate() {
        write(&store, number, &json!({ "kind": kind, "numLeaves": 1 })).await;
    }
    let events = store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let progress = Positions::of(["trees"]).get("trees").unwrap().clone();
    let follower = Follower {
        store: Arc::new(store),
        database: database.clone(),
        upcasters: Upcasters::default(),
        models: vec![Followed {
            table: database.table("trees").unwrap().clone(),
            progress: progress.clone(),
            skipped: BTreeSet::new(),
        }],
    };
    let failure = follower.take(&events).await.unwrap_err();
    assert!(failure.to_string().contains("malformed"), "{failure}");
    assert_eq!(progress.position(), EventId::new(0));
    outside.execute_batch("DROP TRIGGER trouble").unwrap();
    follower.take(&events).await.unwrap();
    assert_eq!(progress.position(), EventId::new(1));
}
