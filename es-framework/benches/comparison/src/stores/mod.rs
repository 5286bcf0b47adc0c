//! The same work in each store, through the client that its users have.

pub mod cqrs_es;
pub mod disintegrate;
pub mod event_store;
pub mod postgres;
pub mod umadb;

use serde::{Deserialize, Serialize};
use sqlx::{PgPool, postgres::PgPoolOptions};

pub trait Store: Clone + Send + Sync + 'static {
    /// Returns a client with a connection of its own, unless the clients of this store share a pool.
    fn connect(&self) -> impl Future<Output = Self> + Send {
        std::future::ready(self.clone())
    }

    /// Appends one event durably. It is the first, second and so on of its subject.
    fn append(&self, subject: &str, number: usize) -> impl Future<Output = ()> + Send;

    /// Appends one event durably, if the subject has no event.
    fn append_first(&self, subject: &str) -> impl Future<Output = ()> + Send;

    /// Reads the events of a subject. Returns how many these are.
    fn read(&self, subject: &str) -> impl Future<Output = usize> + Send;
}

/// The purchase of a book, as all stores store it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Purchase {
    isbn: String,
    title: String,
    author: String,
    num_pages: u32,
}

impl Purchase {
    pub const TYPE: &str = "com.example.library.BookPurchasedEvent";

    fn example() -> Self {
        Self {
            isbn: "978-0756404079".to_owned(),
            title: "The Name of the Wind".to_owned(),
            author: "Patrick Rothfuss".to_owned(),
            num_pages: 662,
        }
    }
}

/// The connections that the clients of PostgreSQL share.
async fn pool(database: &str) -> PgPool {
    let options = PgPoolOptions::new().min_connections(16).max_connections(16);
    options.connect(database).await.expect("PostgreSQL runs")
}
