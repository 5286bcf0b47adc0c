//! What a feature's file needs.

pub use jiff::Timestamp;
pub use uuid::Uuid;

pub use crate::{
    Command, Event, Query, ReadModel, handler,
    query::{Answer, Page, QueryError, Reading},
};
pub use es_macros::projection;
