//! Tables that somebody has damaged, and databases without space.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::json;

use super::{PATIENCE, TREES, rows, write};
use crate::{
    prelude::*,
    projection::{
        Database, DatabaseUrl, Processor, ReadModelDescriptor, ReadModels, database::QueryCost,
    },
};
use es_event::EventId;
use es_store::memory::MemoryStore;
use es_subscribe::{
    ProgressError, SubscriberProgress, SubscriberState, TroubleCause,
    operator::{ComponentKind, OperatorClient, OperatorCommand},
};

struct Garden {
    store: MemoryStore,
    database: Database,
    progress: SubscriberProgress,
    operator: OperatorClient,
    task: tokio::task::JoinHandle<()>,
}

impl Garden {
    async fn follow(store: &MemoryStore, url: DatabaseUrl) -> Self {
        let models = ReadModels::new([TREES]).unwrap();
        let database = Database::open(&url, &models).await.unwrap();
        let processor = Processor::new(Arc::new(store.clone()), database.clone(), models);
        let progress = processor.progress().find_progress("trees").unwrap().clone();
        let operator = processor.operator_client();
        Self {
            store: store.clone(),
            database,
            progress,
            operator,
            task: tokio::spawn(processor.run()),
        }
    }

    async fn plant(&self, number: usize) {
        let payload = json!({ "kind": "oak", "numLeaves": number });
        write(&self.store, number, &payload).await;
    }

    async fn reach(&self, id: u64) {
        let reached = self.progress.wait_until_reached(EventId::new(id), PATIENCE);
        reached.await.unwrap();
    }

    async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }

    async fn until(&self, holds: impl Fn(&SubscriberState) -> bool) -> SubscriberState {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let state = self.progress.state();
            if holds(&state) {
                return state;
            }
            assert!(tokio::time::Instant::now() < deadline, "{state:?}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn execute(file: &Path, statement: &str) {
    let outside = rusqlite::Connection::open(file).unwrap();
    outside.busy_timeout(PATIENCE).unwrap();
    outside.execute_batch(statement).unwrap();
}

const DAMAGES: [&str; 3] = [
    "DROP TABLE IF EXISTS trees",
    "ALTER TABLE trees DROP COLUMN kind",
    "DROP TABLE IF EXISTS es_checkpoint",
];

#[tokio::test]
async fn a_damaged_table_is_made_again_at_the_next_event_or_start() {
    for damage in DAMAGES {
        let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
        let file = folder.path().join("trees.db");
        let url = || DatabaseUrl::File(file.clone());
        let garden = Garden::follow(&store, url()).await;
        for number in 0..3 {
            garden.plant(number).await;
        }
        garden.reach(2).await;
        execute(&file, damage);
        garden.plant(3).await;
        garden.reach(3).await;
        assert_eq!(rows(&garden.database).await.len(), 4, "{damage}");
        garden
            .until(|state| *state == SubscriberState::Working)
            .await;
        garden.stop().await;
        execute(&file, damage);
        let again = Garden::follow(&store, url()).await;
        again.reach(3).await;
        assert_eq!(rows(&again.database).await.len(), 4, "{damage}");
        again.stop().await;
    }
}

#[tokio::test]
async fn a_query_that_finds_a_damaged_table_has_it_made_again() {
    let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
    let file = folder.path().join("trees.db");
    let garden = Garden::follow(&store, DatabaseUrl::File(file.clone())).await;
    garden.plant(0).await;
    garden.reach(0).await;
    execute(&file, "DROP TABLE trees");
    let count = || {
        let statement = "SELECT count(*) FROM trees".to_owned();
        garden
            .database
            .fetch_count(QueryCost::Page, statement, Vec::new())
    };
    let error = count().await.unwrap_err();
    assert!(error.is_table_damage(), "{error}");
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while count().await.ok() != Some(1) {
        assert!(
            tokio::time::Instant::now() < deadline,
            "{:?} {:?}",
            count().await,
            garden.progress
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_database_without_space_stops_the_read_model_and_its_queries_until_there_is_some() {
    for is_in_memory in [true, false] {
        let (folder, store) = (tempfile::tempdir().unwrap(), MemoryStore::new());
        let url = if is_in_memory {
            DatabaseUrl::Memory
        } else {
            DatabaseUrl::File(folder.path().join("trees.db"))
        };
        let garden = Garden::follow(&store, url).await;
        garden.plant(0).await;
        garden.reach(0).await;
        garden.database.limit_pages(1).await.unwrap();
        let long = json!({ "kind": "k".repeat(500_000), "numLeaves": 1 });
        write(&store, 1, &long).await;
        let state = garden.until(SubscriberState::is_stopped).await;
        let trouble = state.trouble().unwrap();
        assert_eq!(
            (trouble.cause, &trouble.event),
            (TroubleCause::Space, &None)
        );
        assert_eq!(
            state.exits(ComponentKind::ReadModel),
            [OperatorCommand::Retry]
        );
        let reached = |id| garden.progress.wait_until_reached(id, PATIENCE);
        assert_eq!(reached(None).await, Err(ProgressError::Stale));
        assert_eq!(reached(EventId::new(1)).await, Err(ProgressError::Stopped));
        assert_eq!(
            reached(EventId::new(0)).await,
            Ok(()),
            "the rows have this event"
        );
        garden.database.limit_pages(1_000_000).await.unwrap();
        garden
            .operator
            .send_command("trees", OperatorCommand::Retry)
            .await
            .unwrap();
        garden.reach(1).await;
        assert_eq!(reached(None).await, Ok(()));
    }
}

#[derive(Event)]
#[event(package = "com.example.garden")]
struct LeafFallenEvent {
    number: u32,
}

#[derive(ReadModel)]
#[read_model(table = "leaves")]
struct Leaf {
    #[key]
    number: u32,
    #[index]
    tree_id: u32,
}

#[derive(ReadModel)]
#[read_model(table = "leaves_tree")]
struct LeavesTree {
    #[key]
    number: u32,
    #[index]
    id: u32,
}

#[projection]
impl Leaf {
    #[key(number)]
    fn fallen(event: &LeafFallenEvent) -> Self {
        let (number, tree_id) = (event.number, 7);
        Self { number, tree_id }
    }
}

#[projection]
impl LeavesTree {
    #[key(number)]
    fn fallen(event: &LeafFallenEvent) -> Self {
        let (number, id) = (event.number, 7);
        Self { number, id }
    }
}

#[tokio::test]
async fn two_tables_whose_indexes_would_have_one_name_have_all_their_indexes() {
    let models = [
        ReadModelDescriptor::of::<Leaf>(),
        ReadModelDescriptor::of::<LeavesTree>(),
    ];
    let models = ReadModels::new(models).unwrap();
    let database = Database::in_memory(&models).await.unwrap();
    assert!(database.try_become_writer().await.unwrap());
    for table in ["leaves", "leaves_tree", "leaves"] {
        let indexes = format!("SELECT count(*) FROM pragma_index_list('{table}')");
        let indexes = database.fetch_count(QueryCost::Page, indexes, Vec::new());
        assert_eq!(indexes.await.unwrap(), 2, "{table}");
        let table = database.find_table(table).unwrap();
        database.reset_table(&table.shadow_table()).await.unwrap();
        database.swap_tables(table).await.unwrap();
    }
}
