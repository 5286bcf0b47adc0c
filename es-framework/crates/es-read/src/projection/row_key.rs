//! The keys of rows.

use es_subscribe::{HeldKeyId, HeldKeyKind};
use serde_json::Value;

use super::{Cell, CellError, ColumnType};

/// The key of a row, as its column stores it.
///
/// ```
/// use es_framework::projection::RowKey;
///
/// assert_eq!(RowKey::from_value(&42)?, RowKey::Integer(42));
/// assert!(RowKey::from_value(&None::<String>).is_err());
/// # Ok::<_, es_framework::projection::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKey {
    /// A text, or a UUID.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// The fields of a key of several fields. Their column stores them as a JSON array.
    Composite(Vec<Self>),
}

/// The reason why an event or a row has no key.
///
/// ```
/// use es_framework::projection::{KeyError, RowKey};
///
/// assert_eq!(RowKey::from_value(&None::<String>), Err(KeyError::Unfit));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A segment of the subject does not fit the key.
    #[error("the subject's part {segment:?} is no key: it {reason}")]
    Segment {
        /// The segment.
        segment: String,
        /// The reason.
        reason: String,
    },
    /// The value cannot be a key.
    #[error("its key is empty or of a kind that tells no rows apart")]
    Unfit,
    /// The value cannot be a cell.
    #[error(transparent)]
    Cell(#[from] CellError),
}

impl RowKey {
    /// Converts a value to a key.
    ///
    /// # Errors
    /// The value is neither a text nor a whole number.
    pub fn from_value<K: ColumnType>(key: &K) -> Result<Self, KeyError> {
        Self::from_cell(key.to_cell("key")?).ok_or(KeyError::Unfit)
    }

    /// Returns the key that these fields are together.
    pub(crate) fn from_parts(mut parts: Vec<Self>) -> Option<Self> {
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(Self::Composite(parts)),
        }
    }

    /// Returns the key as text, which differs for the keys of one read model.
    pub(crate) fn to_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(_) | Self::Composite(_) => self.to_json().to_string(),
        }
    }

    /// Returns true if the column of the key would contain the NUL character. JSON escapes it.
    pub(super) fn has_nul_character(&self) -> bool {
        matches!(self, Self::Text(text) if text.contains('\0'))
    }

    fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Integer(number) => (*number).into(),
            Self::Composite(parts) => parts.iter().map(Self::to_json).collect(),
        }
    }

    /// Returns the identity under which the row is held.
    pub(crate) fn held_id(&self) -> HeldKeyId {
        HeldKeyId::new(HeldKeyKind::Row, &self.to_text())
    }

    pub(crate) fn from_cell(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(Self::Text(text)),
            Cell::Integer(number) => Some(Self::Integer(number)),
            Cell::Null | Cell::Real(_) | Cell::Boolean(_) | Cell::Bytes(_) => None,
        }
    }
}

impl From<RowKey> for Cell {
    fn from(key: RowKey) -> Self {
        match key {
            RowKey::Text(text) => Self::Text(text),
            RowKey::Integer(number) => Self::Integer(number),
            RowKey::Composite(_) => Self::Text(key.to_text()),
        }
    }
}
