//! The last erasure after which rows were rebuilt, as it is stored.

use rusqlite::Connection;

use super::TREES;
use crate::projection::{Database, DatabaseUrl, ReadModels};
use es_event::Hash;

#[tokio::test]
async fn the_id_that_an_earlier_release_recorded_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.db");
    let earlier = "CREATE TABLE es_erasure (model TEXT PRIMARY KEY, position BIGINT NOT NULL); \
         INSERT INTO es_erasure VALUES ('trees', 7)";
    let created = Connection::open(&file).unwrap();
    created.execute_batch(earlier).unwrap();
    let models = ReadModels::new([TREES]).unwrap();
    let trees = models.find_table("trees").unwrap();
    let database = Database::open(&DatabaseUrl::File(file), &models).await;
    let database = database.unwrap();
    assert_eq!(database.load_last_erasure(trees).await.unwrap(), None);
    let erasure = Hash::from_bytes([7; 32]);
    database.record_erasure(trees, erasure).await.unwrap();
    let recorded = database.load_last_erasure(trees).await.unwrap();
    assert_eq!(recorded, Some(erasure));
}
