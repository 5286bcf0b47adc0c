//! The imports that the file of a feature usually needs.

pub use jiff::{Timestamp, civil::Date};
pub use uuid::Uuid;

pub use crate::{
    Command, Event, PublicEvent, Query, ReadModel, Rejection, Service, Settings, State, Value,
    command::{Clock, Decision},
    event::{Caller, Metadata, NotOwner, RecordedEvent},
    evolve, handler, publish,
    query::{Page, QueryContext, QueryError, QueryHandler},
    query_handler,
    reaction::ReactionKey,
    upcast,
};
pub use es_macros::{projection, reaction};
