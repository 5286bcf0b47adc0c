//! From events to rows: the members of a payload become the cells of a row.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use sqlx::{AssertSqlSafe, Sqlite, Transaction, query::Query as SqlQuery, sqlite::SqliteArguments};

use super::{Column, ColumnKind, ReadModelDescriptor, tables};
use crate::event::{DecodeError, RecordedEvent};

/// How many rows one statement writes. Each statement is a hop to the database's thread and back.
const LARGEST_STATEMENT: usize = 512;
/// How many values SQLite takes in one statement.
const MAX_VALUES: usize = 32_766;

/// An event that cannot be a row, or rows that the database refused.
#[derive(Debug, thiserror::Error)]
pub(super) enum RowError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("its payload does not fit the read model: {0}")]
    Payload(#[from] serde_json::Error),
    #[error(transparent)]
    Sql(#[from] sqlx::Error),
}

/// A row before it is written.
struct Row<'a> {
    position: i64,
    subject: &'a str,
    cells: Vec<Cell<'a>>,
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq)]
enum Cell<'a> {
    Null,
    Text(Cow<'a, str>),
    Integer(i64),
    Real(f64),
    Boolean(bool),
}

/// Writes the rows that a batch of events makes in one read model.
pub(super) async fn write(
    model: &ReadModelDescriptor,
    events: &[RecordedEvent],
    transaction: &mut Transaction<'static, Sqlite>,
) -> Result<(), RowError> {
    let rows = events
        .iter()
        .filter(|event| event.event_type.as_str() == model.event_type)
        .map(|event| row(model, event))
        .collect::<Result<Vec<_>, RowError>>()?;
    let values = model.columns.len().saturating_add(2);
    let fit = MAX_VALUES.checked_div(values).unwrap_or(1).max(1);
    let mut rest = rows.as_slice();
    while !rest.is_empty() {
        // Powers of two only, so that few statements are prepared.
        let count = largest_power_of_two(rest.len().min(fit)).min(LARGEST_STATEMENT);
        let (now, later) = rest.split_at_checked(count).unwrap_or((rest, &[]));
        let mut statement = sqlx::query(AssertSqlSafe(tables::insert(model, now.len())));
        for row in now {
            statement = bind(statement, row);
        }
        statement.execute(&mut **transaction).await?;
        rest = later;
    }
    Ok(())
}

fn largest_power_of_two(count: usize) -> usize {
    1_usize << count.checked_ilog2().unwrap_or_default()
}

fn bind<'q>(
    statement: SqlQuery<'q, Sqlite, SqliteArguments>,
    row: &Row<'_>,
) -> SqlQuery<'q, Sqlite, SqliteArguments> {
    let head = statement.bind(row.position).bind(row.subject.to_owned());
    row.cells.iter().fold(head, |statement, cell| match cell {
        Cell::Null => statement.bind(None::<i64>),
        Cell::Text(text) => statement.bind(text.clone().into_owned()),
        Cell::Integer(number) => statement.bind(*number),
        Cell::Real(number) => statement.bind(*number),
        Cell::Boolean(truth) => statement.bind(*truth),
    })
}

fn row<'a>(model: &ReadModelDescriptor, event: &'a RecordedEvent) -> Result<Row<'a>, RowError> {
    let payload = event.raw_payload()?;
    let mut deserializer = serde_json::Deserializer::from_str(payload.get());
    let cells = Cells(model.columns).deserialize(&mut deserializer)?;
    Ok(Row {
        position: i64::try_from(event.id.get()).unwrap_or(i64::MAX),
        subject: event.subject.as_str(),
        cells,
    })
}

/// Reads a payload into the cells of these columns; members that are no column are passed over, and
/// a column without a member stays empty.
struct Cells(&'static [Column]);

impl<'de> DeserializeSeed<'de> for Cells {
    type Value = Vec<Cell<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Cells {
    type Value = Vec<Cell<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the members of an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut cells = vec![Cell::Null; self.0.len()];
        while let Some(Text(member)) = map.next_key()? {
            let mut columns = self.0.iter().zip(&mut cells);
            match columns.find(|(column, _)| column.member == member) {
                Some((column, cell)) => *cell = next_cell(&mut map, column)?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(cells)
    }
}

fn next_cell<'de, A: MapAccess<'de>>(map: &mut A, column: &Column) -> Result<Cell<'de>, A::Error> {
    let cell = match column.kind {
        ColumnKind::Text => map
            .next_value::<Option<Text<'de>>>()
            .map(|value| value.map(|Text(text)| Cell::Text(text))),
        ColumnKind::Integer => map
            .next_value::<Option<i64>>()
            .map(|value| value.map(Cell::Integer)),
        ColumnKind::Real => map
            .next_value::<Option<f64>>()
            .map(|value| value.map(Cell::Real)),
        ColumnKind::Boolean => map
            .next_value::<Option<bool>>()
            .map(|value| value.map(Cell::Boolean)),
    };
    match cell {
        Ok(value) => Ok(value.unwrap_or(Cell::Null)),
        Err(error) => Err(de::Error::custom(format_args!(
            "{}: {error}",
            column.member
        ))),
    }
}

/// A text that is borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &[Column] = &[
        Column {
            name: "title",
            member: "title",
            kind: ColumnKind::Text,
        },
        Column {
            name: "num_pages",
            member: "numPages",
            kind: ColumnKind::Integer,
        },
        Column {
            name: "price",
            member: "price",
            kind: ColumnKind::Real,
        },
        Column {
            name: "is_new",
            member: "isNew",
            kind: ColumnKind::Boolean,
        },
    ];

    fn cells(payload: &str) -> Result<Vec<Cell<'_>>, serde_json::Error> {
        Cells(COLUMNS).deserialize(&mut serde_json::Deserializer::from_str(payload))
    }

    #[test]
    fn members_fill_their_columns_whatever_their_order() {
        let payload = r#"{"isNew":true,"other":{"x":[1]},"numPages":7,"title":"a\"b","price":1}"#;
        let expected = [
            Cell::Text("a\"b".into()),
            Cell::Integer(7),
            Cell::Real(1.0),
            Cell::Boolean(true),
        ];
        assert_eq!(cells(payload).unwrap(), expected);
    }

    #[test]
    fn a_missing_or_null_member_leaves_its_column_empty() {
        assert_eq!(cells(r#"{"title":null}"#).unwrap(), vec![Cell::Null; 4]);
    }

    #[test]
    fn a_member_that_does_not_fit_is_named() {
        for payload in [
            r#"{"numPages":"7"}"#,
            r#"{"numPages":1.5}"#,
            r#"{"numPages":18446744073709551615}"#,
        ] {
            let error = cells(payload).unwrap_err().to_string();
            assert!(error.starts_with("numPages: "), "{error}");
        }
        assert!(cells("[]").is_err());
    }

    #[test]
    fn a_batch_is_split_into_powers_of_two() {
        let sizes = [1, 2, 3, 63, 64, 65].map(largest_power_of_two);
        assert_eq!(sizes, [1, 2, 2, 32, 64, 64]);
    }
}
