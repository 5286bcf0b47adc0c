//! A database whose read models have handled some events.

use std::sync::Arc;

use es_framework::{
    event::{Event, EventCandidate, Metadata, encode},
    projection::{Database, DatabaseUrl, Processor, ReadModels},
    store::{EventLog, memory::MemoryStore},
};

use super::{postgres_server::PostgresServer, running_read_model::PATIENCE};

/// Opens a database on the server, or in memory without one, and waits until the read models contain the events.
pub(crate) async fn fill_database<E: Event>(
    server: Option<&PostgresServer>,
    models: ReadModels,
    subject: &str,
    events: impl IntoIterator<Item = E>,
) -> Database {
    let url = server.map_or(DatabaseUrl::Memory, |server| server.url().parse().unwrap());
    let database = Database::open(&url, &models).await.unwrap();
    let candidates = events.into_iter().map(|event| EventCandidate {
        source: "tests".into(),
        subject: subject.parse().unwrap(),
        event_type: E::TYPE.parse().unwrap(),
        data: encode(&Metadata::default(), &event).unwrap(),
        trace: None,
    });
    let store = MemoryStore::new();
    let recorded = store.append(candidates.collect(), vec![]).await.unwrap();
    let shared: Arc<dyn EventLog> = Arc::new(store);
    let processor = Processor::new(shared, database.clone(), models);
    let positions = processor.progress();
    let running = tokio::spawn(processor.run());
    let last = recorded.last().map(|event| event.id);
    let reached = positions.wait_until_reached(&[], last, PATIENCE).await;
    reached.unwrap();
    running.abort();
    database
}
