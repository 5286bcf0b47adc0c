//! The paths of the facade that the macros write, for the unit tests.

#![allow(missing_docs)]

pub use es_command::{__private, command};
pub use es_event::{self as event, Declaration, declaration, json_impls};

pub mod prelude {
    pub use es_macros::{Event, Query, ReadModel, Value, projection, upcast};
    pub use jiff::Timestamp;
    pub use uuid::Uuid;

    pub use crate::{
        event::{Event, Metadata},
        projection::ReadModel,
        query::{Page, Query, QueryContext, QueryError, QueryHandler},
    };
}
