//! A batch that the database rejects is applied event by event.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use serde_json::json;

use super::{TREES, database, write};
use crate::projection::{
    Cell, Database, DatabaseError, DatabaseUrl, QueryCost, ReadModels,
    database::{Checkpoint, CheckpointStep},
    fold::{RowChanges, TableRow},
    pipeline::ProjectionPipeline,
    pipeline_read_model::PipelineReadModel,
};
use es_event::{EventId, Hash, Subject, Upcasters};
use es_store::{EventStore as _, ReadOptions, memory::MemoryStore};
use es_subscribe::{SkippedEvents, SubscriberProgress, operator::ComponentKind};

/// Rejects an elm while the read model has no checkpoint, and fails in another way afterwards.
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
    assert!(database.try_become_writer().await.unwrap());
    let outside = rusqlite::Connection::open(file).unwrap();
    outside.execute_batch(TROUBLE).unwrap();

    let store = MemoryStore::new();
    for (number, kind) in ["oak", "elm"].into_iter().enumerate() {
        write(&store, number, &json!({ "kind": kind, "numLeaves": 1 })).await;
    }
    let events = store.read(Subject::root(), ReadOptions::recursive());
    let events: Vec<_> = events.try_collect().await.unwrap();
    let progress = SubscriberProgress::new(ComponentKind::ReadModel, "trees");
    let pipeline = ProjectionPipeline {
        store: Arc::new(store),
        database: database.clone(),
        upcasters: Upcasters::default(),
        models: vec![PipelineReadModel::new(
            database.find_table("trees").unwrap().clone(),
            progress.clone(),
            SkippedEvents::default(),
        )],
    };
    let failure = pipeline.apply_events(&events).await.unwrap_err();
    assert!(failure.to_string().contains("malformed"), "{failure}");
    assert_eq!(progress.position(), EventId::new(0));
    outside.execute_batch("DROP TRIGGER trouble").unwrap();
    pipeline.apply_events(&events).await.unwrap();
    assert_eq!(progress.position(), EventId::new(1));
}

/// These rows need several times the pages in SQLite's cache.
const MANY: i64 = 50_000;

/// Writes a tree for each of these numbers.
async fn grow(
    database: &Database,
    places: std::ops::Range<i64>,
    num_leaves: impl Fn(i64) -> Cell,
) -> Result<(), DatabaseError> {
    let row = |place| TableRow {
        place,
        subject: Some(format!("/trees/{place}")),
        cells: vec![Cell::Text("oak".into()), num_leaves(place)],
    };
    let changes = RowChanges {
        rows: places.map(row).collect(),
        ..RowChanges::default()
    };
    let checkpoint = Checkpoint {
        id: EventId::FIRST,
        hash: Hash::ZERO,
    };
    let table = database.find_table("trees").unwrap();
    let step = CheckpointStep {
        from: None,
        to: checkpoint,
    };
    database.write_batch(table, changes, step).await
}

async fn grown(database: &Database) -> (u64, Vec<String>) {
    let count = "SELECT count(*) FROM trees".to_owned();
    let count = database
        .fetch_count(QueryCost::Page, count, Vec::new())
        .await
        .unwrap();
    let check = "PRAGMA integrity_check".to_owned();
    (
        count,
        database
            .fetch_texts(QueryCost::Page, check, Vec::new(), usize::MAX)
            .await
            .unwrap()
            .rows,
    )
}

#[tokio::test]
async fn a_large_batch_in_memory_that_is_refused_at_its_end_changes_nothing() {
    let database = database().await;
    assert!(database.try_become_writer().await.unwrap());
    grow(&database, 0..MANY, Cell::Integer).await.unwrap();
    let sound = (u64::try_from(MANY).unwrap(), vec!["ok".to_owned()]);
    assert_eq!(grown(&database).await, sound);

    let unfit_at_the_end = |place| match place {
        place if place < 2 * MANY - 1 => Cell::Integer(place),
        _ => Cell::Text("many".into()),
    };
    let refused = grow(&database, MANY..2 * MANY, unfit_at_the_end).await;
    assert!(refused.unwrap_err().is_refusal());
    assert_eq!(grown(&database).await, sound);

    grow(&database, MANY..2 * MANY, Cell::Integer)
        .await
        .unwrap();
    let twice = (sound.0 * 2, sound.1);
    assert_eq!(grown(&database).await, twice);
}

#[tokio::test]
async fn a_batch_that_is_tried_changes_nothing() {
    let database = database().await;
    assert!(database.try_become_writer().await.unwrap());
    let table = database.find_table("trees").unwrap();
    let tried = async |num_leaves: Cell| {
        let row = TableRow {
            place: 0,
            subject: Some("/trees/0".into()),
            cells: vec![Cell::Text("oak".into()), num_leaves],
        };
        let changes = RowChanges {
            rows: vec![row],
            ..RowChanges::default()
        };
        database.try_batch(table, changes).await
    };
    tried(Cell::Integer(7)).await.unwrap();
    let refused = tried(Cell::Text("many".into())).await;
    assert!(refused.unwrap_err().is_refusal());
    assert_eq!(grown(&database).await.0, 0);
    let stored = database.load_checkpoint(table).await.unwrap();
    assert_eq!(stored.unwrap().checkpoint, None);
}

#[tokio::test]
async fn a_database_in_memory_that_is_full_says_what_to_do_and_keeps_its_rows() {
    let database = database().await;
    assert!(database.try_become_writer().await.unwrap());
    grow(&database, 0..MANY, Cell::Integer).await.unwrap();
    let before = grown(&database).await;
    let pages = "SELECT page_count FROM pragma_page_count()".to_owned();
    let pages = database
        .fetch_count(QueryCost::Page, pages, Vec::new())
        .await
        .unwrap();
    let limit = u32::try_from(pages + 100).unwrap();
    database.limit_pages(limit).await.unwrap();
    let full = grow(&database, MANY..2 * MANY, Cell::Integer).await;
    let full = full.unwrap_err();
    assert!(full.to_string().contains("set DATABASE_URL"), "{full}");
    assert_eq!(grown(&database).await, before);
}
