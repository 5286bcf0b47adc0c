//! The paths of the facade that the macros write, for the unit tests.

#![allow(missing_docs)]

pub use es_event::{self as event, Declaration, declaration, json_impls};

pub mod prelude {
    pub use es_macros::{
        Command, Event, Rejection, Service, Settings, State, Value, evolve, handler, reaction,
    };
    pub use jiff::Timestamp;
    pub use uuid::Uuid;

    pub use crate::{
        command::{Clock, Command, Decision, Rejection},
        event::{Event, Metadata},
        reaction::ReactionKey,
    };
}
