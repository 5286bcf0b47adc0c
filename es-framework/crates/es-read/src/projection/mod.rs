//! Read models: tables that are built from events and answer queries.

mod batch_computation;
mod batch_fold;
pub mod column;
mod compared_column;
mod database;
mod descriptor;
mod erasures;
mod event_changes;
mod fold;
mod held_rows;
mod key_fields;
mod models;
mod pipeline;
mod pipeline_read_model;
mod processor;
mod read_model;
mod recomputed_rows;
mod row_changes;
mod row_functions;
mod row_holds;
mod row_identity;
mod row_key;
mod search_form;
mod search_index;
mod sql_names;
mod table_definition;
pub(crate) mod table_statements;
#[cfg(test)]
mod tests;
mod text_folding;
pub(crate) mod text_prefix;
pub(crate) mod viewer;
mod visibility;

pub use column::{CellError, ColumnDescriptor, ColumnKind, ColumnType};
pub use database::{CallerShare, Database, DatabaseError, DatabaseUrl, InvalidDatabaseUrl, Sql};
pub(crate) use database::{FetchedRows, QueryCost, written_columns};
pub use descriptor::ReadModelDescriptor;
pub use es_event::PoisonEvent;
pub use es_sql::Cell;
pub use event_changes::ElementList;
pub use held_rows::HeldRows;
pub use key_fields::KeyFields;
pub use models::{IndexKind, ReadModels, Table};
pub use processor::Processor;
pub use read_model::{Cells, EventRow, KeyRef, Project, ProjectionError, ReadModel, RowChange};
pub(crate) use row_changes::TableRow;
pub use row_identity::RowIdentity;
pub use row_key::{KeyError, RowKey};
#[doc(hidden)]
pub use search_form::compares_exactly;
pub use search_form::{SearchForm, SearchedColumn};
pub(crate) use search_index::like_pattern;
pub use text_folding::fold_text;
#[doc(hidden)]
pub use viewer::{describe_visibility, is_hidden};
pub(crate) use visibility::ColumnAccess;
pub use visibility::{ColumnVisibility, OptionalColumn};
