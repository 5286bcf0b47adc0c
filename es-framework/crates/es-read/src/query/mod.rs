//! Queries of clients. Only the read models answer them.

mod aggregate;
mod aggregate_selection;
mod condition;
mod cursor;
mod descriptor;
mod error;
mod event_rows;
mod group_query;
mod group_selection;
mod joined_page;
mod page;
mod parameter_descriptions;
mod parameters;
mod parsed_query;
mod person_rows;
mod query_context;
mod query_field;
mod query_handler;
mod query_route;
mod row_query;
mod row_selection;
mod sort_order;
mod sql_fragment;
mod sql_page;
mod table_view;
mod typed_column;

pub use aggregate::{Aggregate, Aggregates};
pub use condition::Condition;
pub use descriptor::QueryDescriptor;
pub use error::QueryError;
#[doc(hidden)]
pub use event_rows::{PositionedRow, browse_rows, find_row_at};
pub use event_rows::{browse_events, find_first_by_subject};
pub use group_query::{Group, GroupColumns, GroupQuery};
pub use page::{Page, PageParameters};
pub use parameter_descriptions::{ParameterDescription, ParameterDescriptions};
pub use parameters::QueryParameters;
#[doc(hidden)]
pub use parsed_query::ParsedQuery;
#[doc(hidden)]
pub use person_rows::{RowsWithText, find_rows_with_text, has_rows_with_text};
pub use query_context::QueryContext;
pub use query_field::{ParameterValue, QueryField, ValueCount};
pub use query_handler::{Query, QueryHandler};
pub use query_route::{QueryRoute, QueryRouteTarget};
pub use row_query::RowQuery;
pub use sort_order::SortChoice;
#[doc(hidden)]
pub use typed_column::names_key;
pub use typed_column::{
    Column, ComparedWith, NumericValue, OrderedValue, RequiredIndex, SearchableText,
};
