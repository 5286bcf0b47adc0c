//! The event store behind the HTTP API of EventSourcingDB.
