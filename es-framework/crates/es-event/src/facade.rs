//! The paths of the facade that the macros write, for the unit tests.

#![allow(missing_docs)]

pub use crate as event;

pub mod command {
    /// Stands for the trait in `es-command` of the events that a handler may return.
    pub trait HandlerEvent: crate::Event {}
}

pub mod prelude {
    pub use es_macros::{Event, upcast};

    pub use crate::{Event as _, Metadata};
}
