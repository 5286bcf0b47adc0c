//! disintegrate with PostgreSQL.

use ::disintegrate::{Event, EventStore as _, StreamItem, StreamQuery, query, serde::json::Json};
use disintegrate_postgres::{PgEventId, PgEventStore};
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};

use super::{Purchase, Store};

#[derive(Clone, Debug, PartialEq, Event, Serialize, Deserialize)]
#[stream(BookEvent, [BookPurchased])]
enum LibraryEvent {
    BookPurchased {
        #[id]
        subject: String,
        purchase: Purchase,
    },
}

#[derive(Clone)]
pub struct Disintegrate {
    events: PgEventStore<LibraryEvent, Json<LibraryEvent>>,
}

impl Disintegrate {
    pub async fn create(database: &str) -> Self {
        let pool = super::pool(database).await;
        let events = PgEventStore::try_new(pool, Json::default()).await;
        Self {
            events: events.unwrap(),
        }
    }
}

fn purchase_of(subject: &str) -> LibraryEvent {
    LibraryEvent::BookPurchased {
        subject: subject.to_owned(),
        purchase: Purchase::example(),
    }
}

fn events_of(subject: &str) -> StreamQuery<PgEventId, LibraryEvent> {
    query!(LibraryEvent; subject == subject.to_owned())
}

impl Store for Disintegrate {
    async fn append(&self, subject: &str, _: usize) {
        let append = self
            .events
            .append_without_validation(vec![purchase_of(subject)]);
        append.await.unwrap();
    }

    /// The transaction is serializable, so PostgreSQL rejects some although their subjects have no events.
    async fn append_first(&self, subject: &str) {
        let append = || {
            self.events
                .append(vec![purchase_of(subject)], events_of(subject), 0)
        };
        while append().await.is_err() {}
    }

    async fn read(&self, subject: &str) -> usize {
        let query = events_of(subject);
        let items = self.events.stream(&query);
        let events =
            items.filter(|item| std::future::ready(matches!(item, Ok(StreamItem::Event(_)))));
        events.count().await
    }
}
