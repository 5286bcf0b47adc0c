//! Read models: what clients ask about, kept in SQL and rebuilt from events.

mod read_model;

pub use read_model::{Column, ColumnKind, ColumnValue, ReadModelDescriptor};
