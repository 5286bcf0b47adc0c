//! What clients ask: answered from the read models alone.

mod among;
mod browse;
pub(crate) mod checks;
mod cursor;
mod declared;
mod described;
mod error;
pub(crate) mod page;
pub(crate) mod parameters;
mod queries;
mod reading;
mod select;
#[cfg(test)]
mod tests;

pub use among::Among;
pub use browse::{browse, find};
pub use declared::{Answer, Filter, Query, QueryDescriptor};
pub use described::{Described, ParameterDescription};
pub use error::QueryError;
pub use page::{Direction, Page, Paging};
pub use parameters::Parameters;
pub use queries::{Queries, QueriesError, Route, RouteKind};
pub use reading::Reading;
pub use select::Select;
