//! The port to the event store and its adapters.

pub use es_store::*;
#[cfg(feature = "client")]
pub use es_store_client as eventsourcingdb;
#[cfg(feature = "postgres")]
pub use es_store_postgres as postgres;
#[cfg(feature = "embedded")]
pub use es_store_sqlite as sqlite;
