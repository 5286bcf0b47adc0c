//! The cursor of a page: the values that its last row is sorted by, as a text that clients send back. Values
//! that would make it too long are not in it. It then has digests of them, and names the rows that have them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::QueryError;
use crate::projection::{Cell, ColumnKind, Database, text_prefix::is_shorter_than_prefix};

/// The largest number of bytes of a cursor in JSON. The text for clients is twice as long, and stays below
/// 300 characters.
const MAX_JSON: usize = 149;
/// The number of bytes of a digest.
const DIGEST: usize = 8;

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
        key: Value,
    },
    /// The last row or group of a page, whose values are too long for a cursor.
    Long(LongCursor),
}

/// The place between two rows or groups whose values are too long for a cursor.
///
/// The next page begins after the last row. If that row has changed meanwhile, the page begins with the row
/// that came next. If both have changed, nothing tells any more where the page begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct LongCursor {
    last: RowDigest,
    next: RowDigest,
}

/// A row, and a digest of the values that it was sorted by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct RowDigest {
    #[serde(rename = "place")]
    position: i64,
    digest: String,
}

/// A row, or the oldest row of a group, with the values that the rows are sorted by.
#[derive(Debug)]
pub(super) struct SortedRow {
    pub(super) position: i64,
    pub(super) values: Vec<Cell>,
}

/// The values at which a page begins.
#[derive(Debug)]
pub(super) struct PageStart {
    pub(super) row: SortedRow,
    /// True if the page contains the row.
    pub(super) is_included: bool,
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
    /// The sort order, if the rows have one. Cursors of earlier releases do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sort: Option<String>,
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
            Cell::Null | Cell::Bytes(_) => None,
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
                ColumnKind::Text
                    | ColumnKind::Name
                    | ColumnKind::Timestamp
                    | ColumnKind::Date
                    | ColumnKind::Json
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

impl SortedRow {
    /// Returns true if no other text has the prefix of a text that the rows are sorted by.
    pub(super) fn is_short(&self) -> bool {
        let is_short = |value: &Cell| match value {
            Cell::Text(text) => is_shorter_than_prefix(text),
            _ => true,
        };
        self.values.iter().all(is_short)
    }
}

impl RowDigest {
    fn of(columns: &[&str], row: &SortedRow) -> Self {
        // A cursor of another sort order has other digests. Debug quotes the texts.
        let digest = short_digest(&format!("{columns:?}{:?}", row.values));
        let position = row.position;
        Self { position, digest }
    }
}

/// Returns a short digest of a text in hexadecimal.
pub(super) fn short_digest(text: &str) -> String {
    let hash = Sha256::digest(text);
    es_event::hex(hash.iter().take(DIGEST))
}

impl LongCursor {
    /// Returns the positions of the rows that the cursor names.
    pub(super) const fn positions(&self) -> [i64; 2] {
        [self.last.position, self.next.position]
    }

    /// Returns where the page begins, given the rows that are at the positions now.
    ///
    /// # Errors
    /// Both rows have changed, or the cursor belongs to another query.
    pub(super) fn find_start(
        &self,
        columns: &[&str],
        rows: Vec<SortedRow>,
    ) -> Result<PageStart, QueryError> {
        let mut starts: Vec<_> = rows
            .into_iter()
            .filter_map(|row| {
                let digest = RowDigest::of(columns, &row);
                let is_included = digest != self.last;
                let is_known = !is_included || digest == self.next;
                is_known.then_some(PageStart { row, is_included })
            })
            .collect();
        starts.sort_by_key(|start| start.is_included);
        starts.into_iter().next().ok_or_else(|| {
            let message = "names rows that have changed meanwhile, or belongs to another query: begin again without it";
            QueryError::invalid("cursor", message)
        })
    }
}

impl PageCursor {
    /// Returns this cursor, or one that names the last row and the row after it if this one is too long.
    pub(super) fn shortened(
        self,
        columns: &[&str],
        [last, next]: [&SortedRow; 2],
    ) -> Result<Self, QueryError> {
        if serde_json::to_vec(&self)?.len() <= MAX_JSON {
            return Ok(self);
        }
        Ok(Self::Long(LongCursor {
            last: RowDigest::of(columns, last),
            next: RowDigest::of(columns, next),
        }))
    }

    /// Returns the error for a cursor of another query, or of another sort order.
    pub(super) fn foreign_cursor_error() -> QueryError {
        QueryError::invalid("cursor", "belongs to another query")
    }

    /// Refuses a value that no row can have: a text of PostgreSQL cannot contain the NUL character.
    pub(super) fn check_storable(cell: &Cell, database: &Database) -> Result<(), QueryError> {
        match cell {
            Cell::Text(text)
                if database.dialect().rejects_nul_character() && text.contains('\0') =>
            {
                Err(Self::foreign_cursor_error())
            }
            _ => Ok(()),
        }
    }

    /// Returns the key of the last group of the page before, which has so many parts.
    pub(super) fn group_key(&self, len: usize) -> Result<&[Value], QueryError> {
        match self {
            Self::Group {
                key: Value::Array(parts),
            } if parts.len() == len => Ok(parts),
            _ => Err(Self::foreign_cursor_error()),
        }
    }

    /// Returns the text for clients. It is hexadecimal, so that it needs no escapes in a URL.
    pub(super) fn encode(&self) -> Result<String, serde_json::Error> {
        let json = serde_json::to_vec(self)?;
        Ok(es_event::hex(&json))
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
            let sort = by.as_ref().map(|_| "-title".to_owned());
            let position = 42;
            let cursor = PageCursor::Row(RowCursor { position, by, sort });
            assert_eq!(PageCursor::decode(&cursor.encode().unwrap()), Some(cursor));
        }
        let key = serde_json::json!(["Emma", 7]);
        let cursor = PageCursor::Group { key };
        assert_eq!(PageCursor::decode(&cursor.encode().unwrap()), Some(cursor));
    }

    #[test]
    fn a_cursor_is_short_whatever_the_values_are() {
        let row = |position| SortedRow {
            position,
            values: vec![Cell::Text("\"ä\u{1}".repeat(200))],
        };
        let [last, next] = [row(i64::MAX), row(i64::MIN)];
        let cursor = |by: &str| {
            let by = Some(SortValue::Text(by.into()));
            let (position, sort) = (1, Some("title".into()));
            let exact = PageCursor::Row(RowCursor { position, by, sort });
            exact.shortened(&["title"], [&last, &next]).unwrap()
        };
        let long = cursor(&"x".repeat(200));
        let text = long.encode().unwrap();
        assert!(text.len() < 300, "{text}");
        assert_eq!(PageCursor::decode(&text), Some(long));
        for length in 0..200 {
            let text = cursor(&"x".repeat(length)).encode().unwrap();
            assert!(text.len() < 300, "{length}: {text}");
        }
        assert!(matches!(cursor("short"), PageCursor::Row(_)));
    }

    #[test]
    fn a_long_cursor_survives_the_change_of_one_of_its_rows() {
        let row = |position, text: &str| SortedRow {
            position,
            values: vec![Cell::Text(text.into())],
        };
        let (last, next) = (row(7, "a"), row(3, "b"));
        let digest = |row| RowDigest::of(&["title"], row);
        let (last, next) = (digest(&last), digest(&next));
        let cursor = LongCursor { last, next };
        let start = |columns: &[&str], rows| {
            let start = cursor.find_start(columns, rows).ok()?;
            Some((start.row.position, start.is_included))
        };
        let both = || vec![row(3, "b"), row(7, "a")];
        assert_eq!(start(&["title"], both()), Some((7, false)));
        assert_eq!(start(&["title"], vec![row(3, "b")]), Some((3, true)));
        let changed = vec![row(3, "b"), row(7, "z")];
        assert_eq!(start(&["title"], changed), Some((3, true)));
        assert_eq!(start(&["title"], vec![row(3, "y"), row(7, "z")]), None);
        assert_eq!(start(&["author"], both()), None);
    }

    #[test]
    fn what_is_no_cursor_is_refused() {
        for text in ["", "0", "zz", "7b", "é", "7b7d", "31"] {
            assert_eq!(PageCursor::decode(text), None, "{text}");
        }
    }
}
