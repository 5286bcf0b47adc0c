//! The cursor of a page: the values that its last row is sorted by, as a text that clients send back.

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::QueryError;
use crate::projection::{Cell, ColumnKind, Database};

/// The end of a page: the next page begins after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PageCursor {
    /// The last row of a page of rows.
    Row(RowCursor),
    /// The last group of a page of groups.
    Group {
        /// The values of the columns that the rows are grouped by, as JSON.
        #[serde(rename = "own")]
        key: serde_json::Value,
    },
}

/// The last row of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RowCursor {
    /// The row's position in the table.
    #[serde(rename = "place")]
    pub(super) position: i64,
    /// The value of the column that the rows are sorted by, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<SortValue>,
}

/// A value that rows are sorted by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum SortValue {
    Integer(i64),
    Real(f64),
    Text(String),
}

impl SortValue {
    /// Returns the value of a cell, if it has one.
    pub(super) fn from_cell(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => None,
            Cell::Text(text) => Some(Self::Text(text.clone())),
            Cell::Integer(number) => Some(Self::Integer(*number)),
            Cell::Real(number) => Some(Self::Real(*number)),
            Cell::Boolean(truth) => Some(Self::Integer((*truth).into())),
        }
    }

    /// Returns true if a column of this kind can hold the value. Clients send cursors, so they can be
    /// wrong.
    pub(super) const fn fits(&self, kind: ColumnKind) -> bool {
        match self {
            Self::Integer(_) => matches!(kind, ColumnKind::Integer),
            Self::Real(_) => matches!(kind, ColumnKind::Real),
            Self::Text(_) => matches!(
                kind,
                ColumnKind::Text | ColumnKind::Timestamp | ColumnKind::Json
            ),
        }
    }
}

impl From<SortValue> for Cell {
    fn from(value: SortValue) -> Self {
        match value {
            SortValue::Integer(number) => Self::Integer(number),
            SortValue::Real(number) => Self::Real(number),
            SortValue::Text(text) => Self::Text(text),
        }
    }
}

impl PageCursor {
    /// Returns the error for a cursor of another query, or of another sort order.
    pub(super) fn foreign_cursor_error() -> QueryError {
        QueryError::invalid("cursor", "belongs to another query")
    }

    /// Refuses a value that no row can have: a text of PostgreSQL cannot contain the NUL character.
    pub(super) fn check_storable(cell: &Cell, database: &Database) -> Result<(), QueryError> {
        match cell {
            Cell::Text(text) if database.rejects_nul_character() && text.contains('\0') => {
                Err(Self::foreign_cursor_error())
            }
            _ => Ok(()),
        }
    }

    /// Returns the cursor after a group with this key.
    pub(super) fn from_group_key<T: Serialize>(key: &[T]) -> Result<Self, QueryError> {
        let key = serde_json::to_value(key)?;
        Ok(Self::Group { key })
    }

    /// Returns the last row of the page before.
    pub(super) fn as_row(&self) -> Result<&RowCursor, QueryError> {
        match self {
            Self::Row(row) => Ok(row),
            Self::Group { .. } => Err(Self::foreign_cursor_error()),
        }
    }

    /// Returns the key of the last group of the page before.
    pub(super) fn group_key<T: DeserializeOwned, const N: usize>(
        &self,
    ) -> Result<[T; N], QueryError> {
        let key = match self {
            Self::Row(_) => None,
            Self::Group { key } => Vec::<T>::deserialize(key).ok(),
        };
        let key = key.and_then(|key| key.try_into().ok());
        key.ok_or_else(Self::foreign_cursor_error)
    }

    /// Returns the text for clients. It is hexadecimal, so that it needs no escapes in a URL.
    pub(super) fn encode(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_vec(self)?;
        Ok(json.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Reads the text that a client sends back.
    pub(super) fn decode(text: &str) -> Option<Self> {
        let digits = text.as_bytes().chunks(2);
        let bytes: Option<Vec<u8>> = digits
            .map(|pair| match pair {
                [high, low] => {
                    let digit = |byte: u8| char::from(byte).to_digit(16);
                    let value = digit(*high)?.checked_mul(16)?.checked_add(digit(*low)?)?;
                    u8::try_from(value).ok()
                }
                _ => None,
            })
            .collect();
        serde_json::from_slice(&bytes?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        for by in [
            None,
            Some(SortValue::Integer(-7)),
            Some(SortValue::Real(0.5)),
            Some(SortValue::Text("ä'\"".into())),
        ] {
            let cursor = PageCursor::Row(RowCursor { position: 42, by });
            assert_eq!(PageCursor::decode(&cursor.encode().unwrap()), Some(cursor));
        }
        let key = serde_json::json!(["Emma", 7]);
        let cursor = PageCursor::Group { key };
        assert_eq!(PageCursor::decode(&cursor.encode().unwrap()), Some(cursor));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "0", "zz", "7b", "é", "7b7d", "31"] {
            assert_eq!(PageCursor::decode(text), None, "{text}");
        }
    }
}
