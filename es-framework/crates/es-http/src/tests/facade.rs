//! The paths of the facade that the macros write.

pub(super) use es_command::{__private, command, validate};
pub(super) use es_event::{self as event, Declaration, declaration, json_impls};
pub(super) use es_read::query;
