//! The value of a column.

use std::fmt;

/// A value of a column.
///
/// ```
/// use es_sql::Cell;
///
/// assert_ne!(Cell::Null, Cell::Integer(0));
/// assert_eq!(Cell::from("Dune"), Cell::Text("Dune".into()));
/// ```
#[derive(Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A text, a time or JSON.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Real(f64),
    /// True or false.
    Boolean(bool),
    /// Bytes, which may be a secret.
    Bytes(Vec<u8>),
}

/// Without the bytes, because they may be a key.
impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Text(text) => f.debug_tuple("Text").field(text).finish(),
            Self::Integer(number) => f.debug_tuple("Integer").field(number).finish(),
            Self::Real(number) => f.debug_tuple("Real").field(number).finish(),
            Self::Boolean(truth) => f.debug_tuple("Boolean").field(truth).finish(),
            Self::Bytes(_) => f.write_str("Bytes(…)"),
        }
    }
}

impl Cell {
    /// Returns the text, or `None` if the cell holds something else.
    #[doc(hidden)]
    #[must_use]
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the whole number, or `None` if the cell holds something else.
    #[doc(hidden)]
    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Cell {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The type of a column. Columns that the framework stores alike have one type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// A text, a time or JSON.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// True or false.
    Boolean,
    /// Bytes.
    Bytes,
}
