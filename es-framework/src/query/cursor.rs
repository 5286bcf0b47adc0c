//! Where a page ended: the values that its last row is sorted by, as a text that clients send back.

use serde::{Deserialize, Serialize};

use super::QueryError;
use crate::projection::{Cell, ColumnKind};

/// The end of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Cursor {
    /// Of the rows of a read model.
    Row(AfterRow),
    /// Of rows that SQL by hand sorts by values of its own.
    Own {
        /// The values, as JSON.
        own: serde_json::Value,
    },
}

/// The last row of a page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AfterRow {
    /// The row's place.
    pub(super) place: i64,
    /// What the rows are sorted by before that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<Value>,
}

/// A value that rows are sorted by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Integer(i64),
    Real(f64),
    Text(String),
}

impl Value {
    pub(super) fn of(cell: &Cell) -> Option<Self> {
        match cell {
            Cell::Null => None,
            Cell::Text(text) => Some(Self::Text(text.clone())),
            Cell::Integer(number) => Some(Self::Integer(*number)),
            Cell::Real(number) => Some(Self::Real(*number)),
            Cell::Boolean(truth) => Some(Self::Integer((*truth).into())),
        }
    }
}

impl Value {
    /// Whether a column of this kind can hold it: a cursor comes from outside.
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

impl From<Value> for Cell {
    fn from(value: Value) -> Self {
        match value {
            Value::Integer(number) => Self::Integer(number),
            Value::Real(number) => Self::Real(number),
            Value::Text(text) => Self::Text(text),
        }
    }
}

impl Cursor {
    /// The end of a page that was sorted differently, or another query's.
    pub(super) fn of_another_query() -> QueryError {
        QueryError::invalid("cursor", "belongs to another query")
    }

    /// The row after which the rows of a read model go on.
    pub(super) fn row(&self) -> Result<&AfterRow, QueryError> {
        match self {
            Self::Row(after) => Ok(after),
            Self::Own { .. } => Err(Self::of_another_query()),
        }
    }

    /// As clients see it: hexadecimal, so that nobody takes it for more than it is, and needs no
    /// escapes in a URL.
    pub(super) fn encode(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_vec(self)?;
        Ok(json.iter().map(|byte| format!("{byte:02x}")).collect())
    }

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
            Some(Value::Integer(-7)),
            Some(Value::Real(0.5)),
            Some(Value::Text("ä'\"".into())),
        ] {
            let cursor = Cursor::Row(AfterRow { place: 42, by });
            assert_eq!(Cursor::decode(&cursor.encode().unwrap()), Some(cursor));
        }
        let own = serde_json::json!(["Emma", 7]);
        let cursor = Cursor::Own { own };
        assert_eq!(Cursor::decode(&cursor.encode().unwrap()), Some(cursor));
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "0", "zz", "7b", "é", "7b7d", "31"] {
            assert_eq!(Cursor::decode(text), None, "{text}");
        }
    }
}
