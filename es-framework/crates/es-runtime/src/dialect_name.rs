//! The name of a dialect on the command line.

use clap::ValueEnum;

use es_event::Dialect;

/// The name of a [`Dialect`] on the command line.
///
/// ```
/// use es_framework::{event::Dialect, server::EventDialectName};
///
/// assert_eq!(Dialect::from(EventDialectName::default()), Dialect::Item);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum EventDialectName {
    /// `{"type":"item",…}`
    #[default]
    Item,
    /// `{"type":"event",…}`
    Event,
}

impl From<EventDialectName> for Dialect {
    fn from(name: EventDialectName) -> Self {
        match name {
            EventDialectName::Item => Self::Item,
            EventDialectName::Event => Self::Event,
        }
    }
}
