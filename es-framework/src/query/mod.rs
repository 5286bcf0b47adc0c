//! What clients ask: answered from the read models alone.

mod among;
mod browse;
pub(crate) mod checks;
mod chosen;
mod cursor;
mod declared;
mod described;
mod error;
pub(crate) mod page;
pub(crate) mod parameters;
mod queries;
mod query_context;
mod search;
mod select;
#[cfg(test)]
mod tests;

pub use among::Among;
pub use browse::{browse, find};
pub use declared::{ColumnIndex, Query, QueryDescriptor, QueryHandler};
pub use described::{ParameterDescription, ParameterDescriptions};
pub use error::QueryError;
pub use page::{Direction, Page, Paging};
pub use parameters::QueryParameters;
pub use queries::{Queries, QueriesError, QueryRoute, QueryRouteKind};
pub use query_context::QueryContext;
pub use select::Select;
