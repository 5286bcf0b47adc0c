//! The versions of the computation of event hashes.

use std::{fmt, str::FromStr};

/// The version of the computation of an event's hash. Events of one store can have different ones.
///
/// ```
/// use es_event::HashVersion;
///
/// assert_eq!("2".parse(), Ok(HashVersion::V2));
/// assert_eq!(HashVersion::default(), HashVersion::V1);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HashVersion {
    /// Hashes without a prefix, which every client verifies. They do not cover the trace.
    #[default]
    V1,
    /// Hashes with the prefix `esdb:hash:v2:`, as EventSourcingDB writes them since version 1.3. They
    /// cover all members of an event.
    V2,
}

/// The error for a text that names no version of hashes.
///
/// ```
/// use es_event::{HashVersion, InvalidHashVersion};
///
/// assert_eq!("3".parse::<HashVersion>(), Err(InvalidHashVersion));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a version of hashes is 1 or 2")]
pub struct InvalidHashVersion;

impl HashVersion {
    /// The text before the digits of a hash.
    pub(crate) const fn prefix(self) -> &'static str {
        match self {
            Self::V1 => "",
            Self::V2 => "esdb:hash:v2:",
        }
    }

    /// Splits the text of a hash into its version and its digits. A text with another
    /// prefix counts as version 1, with the prefix as a part of its digits.
    pub(crate) fn split_prefix(text: &str) -> (Self, &str) {
        match text.strip_prefix(Self::V2.prefix()) {
            Some(digits) => (Self::V2, digits),
            None => (Self::V1, text),
        }
    }
}

impl FromStr for HashVersion {
    type Err = InvalidHashVersion;

    fn from_str(text: &str) -> Result<Self, InvalidHashVersion> {
        match text {
            "1" => Ok(Self::V1),
            "2" => Ok(Self::V2),
            _ => Err(InvalidHashVersion),
        }
    }
}

impl fmt::Display for HashVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1 => "1",
            Self::V2 => "2",
        })
    }
}
