//! The name of a dialect on the command line.

use clap::ValueEnum;

use es_event::Dialect;

/// The name of a [`Dialect`] on the command line.
///
/// ```
/// use es_framework::{event::Dialect, server::DialectName};
///
/// assert_eq!(Dialect::from(DialectName::default()), Dialect::Item);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DialectName {
    /// `{"type":"item",…}`
    #[default]
    Item,
    /// `{"type":"event",…}`
    Event,
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Self {
        match name {
            DialectName::Item => Self::Item,
            DialectName::Event => Self::Event,
        }
    }
}
