//! cqrs-es with postgres-es. Each of its commands loads the aggregate first and is conditional.

use std::{convert::Infallible, sync::Arc};

use ::cqrs_es::{
    Aggregate, DomainEvent, EventStore as _, event_sink::EventSink, persist::PersistedEventStore,
};
use postgres_es::{PostgresCqrs, PostgresEventRepository, postgres_cqrs};
use serde::{Deserialize, Serialize};

use super::{Purchase, Store};

#[derive(Default, Serialize, Deserialize)]
struct Book;

impl DomainEvent for Purchase {
    fn event_type(&self) -> String {
        Self::TYPE.to_owned()
    }

    fn event_version(&self) -> String {
        "1".to_owned()
    }
}

impl Aggregate for Book {
    const TYPE: &'static str = "book";
    type Command = Purchase;
    type Event = Purchase;
    type Error = Infallible;
    type Services = ();

    async fn handle(
        &mut self,
        command: Purchase,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), Infallible> {
        sink.write(command, self).await;
        Ok(())
    }

    fn apply(&mut self, _: Purchase) {}
}

#[derive(Clone)]
pub struct CqrsEs {
    commands: Arc<PostgresCqrs<Book>>,
    events: Arc<PersistedEventStore<PostgresEventRepository, Book>>,
}

impl CqrsEs {
    pub async fn create(database: &str) -> Self {
        let pool = super::pool(database).await;
        let table = "CREATE TABLE events (aggregate_type text, aggregate_id text, sequence bigint, event_type text,
            event_version text, payload json, metadata json,
            PRIMARY KEY (aggregate_type, aggregate_id, sequence))";
        sqlx::query(table).execute(&pool).await.unwrap();
        let repository = PostgresEventRepository::new(pool.clone());
        Self {
            commands: Arc::new(postgres_cqrs(pool, vec![], ())),
            events: Arc::new(PersistedEventStore::new_event_store(repository)),
        }
    }
}

impl Store for CqrsEs {
    async fn append(&self, subject: &str, _: usize) {
        self.commands
            .execute(subject, Purchase::example())
            .await
            .unwrap();
    }

    async fn append_first(&self, subject: &str) {
        self.append(subject, 0).await;
    }

    async fn read(&self, subject: &str) -> usize {
        self.events.load_events(subject).await.unwrap().len()
    }
}
