//! Read models: what clients ask about, kept in SQL and rebuilt from events.

mod database;
mod processor;
mod progress;
mod read_model;
mod rows;
mod tables;
#[cfg(test)]
mod tests;

pub use database::{Database, DatabaseError};
pub use processor::Processor;
pub use progress::{Progress, ProgressError};
pub(crate) use tables::{quoted, row_as_json};

pub use read_model::{
    Column, ColumnKind, ColumnValue, ReadModelDescriptor, ReadModels, ReadModelsError,
};
