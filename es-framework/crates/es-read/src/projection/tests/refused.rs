//! Batches of rows that SQLite refuses.

use super::database;
use crate::projection::{
    Cell, Database, DatabaseError, QueryCost,
    row_changes::{RowChanges, RowVersion, TableRow},
};
use es_event::{EventId, Hash};
use es_subscribe::SubscriberCheckpoint;

/// These rows need several times the pages in SQLite's cache.
const MANY: i64 = 50_000;

fn tree(place: i64, num_leaves: Cell) -> RowVersion {
    RowVersion {
        event: EventId::new(place.unsigned_abs()).unwrap(),
        row: TableRow {
            place,
            subject: Some(format!("/trees/{place}")),
            cells: vec![Cell::Text("oak".into()), num_leaves],
        },
    }
}

/// Writes a tree for each of these numbers.
async fn grow(
    database: &Database,
    places: std::ops::Range<i64>,
    num_leaves: impl Fn(i64) -> Cell,
) -> Result<(), DatabaseError> {
    let row = |place| tree(place, num_leaves(place));
    let changes = RowChanges {
        rows: places.map(row).collect(),
        ..RowChanges::default()
    };
    let checkpoint = SubscriberCheckpoint {
        event: EventId::FIRST,
        hash: Hash::ZERO,
    };
    let table = database.find_table("trees").unwrap();
    database.write_batch(table, changes, checkpoint).await
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
            .fetch_texts_up_to(QueryCost::Page, check, Vec::new(), usize::MAX)
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
async fn the_refused_rows_of_a_batch_are_found_and_nothing_is_written() {
    let database = database().await;
    assert!(database.try_become_writer().await.unwrap());
    let table = database.find_table("trees").unwrap();
    let many = || Cell::Text("many".into());
    let leaves = [Cell::Integer(7), many(), Cell::Integer(8), many()];
    let changes = RowChanges {
        rows: (0..)
            .zip(leaves)
            .map(|(place, leaves)| tree(place, leaves))
            .collect(),
        ..RowChanges::default()
    };
    let refused = database.find_refusals(table, changes).await.unwrap();
    let events: Vec<_> = refused.iter().map(|refused| refused.event.get()).collect();
    assert_eq!(events, [1, 3]);
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
