//! Read models: what clients ask about, kept in SQL and rebuilt from events.

mod ahead;
mod batch;
mod changes;
pub mod column;
mod database;
mod descriptor;
mod fold;
mod follower;
mod key;
mod models;
mod processor;
mod progress;
mod read_model;
mod rebuild;
pub(crate) mod search;
pub(crate) mod tables;
#[cfg(test)]
mod tests;

pub use batch::Refused;
pub(crate) use changes::Changes;
pub use column::{Cell, CellError, Column, ColumnKind, ColumnValue};
pub use database::{Database, DatabaseError, DatabaseUrl, InvalidDatabaseUrl, Sql};
pub use descriptor::{Identity, ReadModelDescriptor};
pub(crate) use fold::StoredRow;
pub use key::{KeyError, RowKey, key_in_subject};
pub use models::{ColumnUse, ReadModels, ReadModelsError, Table};
pub use processor::Processor;
pub use progress::{Pace, Positions, Progress, ProgressError};
pub use read_model::{Cells, Change, EventRow, Project, ProjectionError, ReadModel};
