//! Staff look up a reader.

use es_framework::prelude::*;

use super::ReaderRegisteredEvent;

/// A reader who is registered.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "readers", subject = "/readers/{id}")]
pub struct RegisteredReader {
    #[key]
    pub id: Uuid,
    pub name: String,
}

#[projection]
impl RegisteredReader {
    fn registered(event: ReaderRegisteredEvent) -> Self {
        Self {
            id: event.id,
            name: event.name,
        }
    }
}

/// Shows one reader.
#[derive(Query)]
#[query(path = "/readers/{id}", row = RegisteredReader, role = "staff")]
pub struct FindReader {
    pub id: Uuid,
}
