//! The columns of read models, and the conversion of fields to cells and back.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use es_event::{
    __private::HasJson,
    encode_finite,
    json_numbers::{is_json, read_json, spell_out_integers},
    time_text::{self, check_date, check_time},
};
use es_sql::Cell;
use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// A column and the name of its member in JSON.
///
/// ```
/// use es_framework::{prelude::*, projection::{ColumnDescriptor, ColumnKind}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// let title = ColumnDescriptor { name: "title", member: "title", kind: ColumnKind::Text };
/// assert_eq!(BookCopy::COLUMNS[1], title);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDescriptor {
    /// The column's name, such as `num_pages`.
    pub name: &'static str,
    /// The member's name in JSON, such as `numPages`.
    pub member: &'static str,
    /// The kind of the column's values.
    pub kind: ColumnKind,
}

/// The kind of a column's values.
///
/// ```
/// use es_framework::projection::{ColumnKind, ColumnType};
///
/// assert_eq!((u32::KIND, f64::KIND), (ColumnKind::Integer, ColumnKind::Real));
/// assert_eq!(Vec::<String>::KIND, ColumnKind::Json);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A text of any length.
    Text,
    /// A text of limited length: a UUID or the name of an enum's variant.
    Name,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// True or false.
    Boolean,
    /// A point in time, stored as a text of fixed length that sorts by time.
    Timestamp,
    /// A date of the calendar, which has no time zone.
    Date,
    /// A list or a map, stored as JSON.
    Json,
}

/// A field that can be a column.
///
/// ```
/// use es_framework::{prelude::*, projection::{ColumnKind, ColumnType}};
///
/// #[derive(Value)]
/// enum Status {
///     Available,
///     Lent,
/// }
///
/// assert_eq!(Status::KIND, ColumnKind::Name);
/// assert_eq!(Option::<Timestamp>::KIND, ColumnKind::Timestamp);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a column of a read model",
    label = "this field has no column type",
    note = "columns are texts, UUIDs, whole numbers up to `i64`, floats, booleans, `Timestamp`s, `Date`s, lists, maps with text keys, enums without data with `#[derive(Value)]`, and `Option`s of these; for a struct or an enum with data, write a field for each of its values"
)]
pub trait ColumnType: HasJson {
    /// The kind of the column.
    const KIND: ColumnKind;

    /// Converts the field to a cell.
    ///
    /// ```
    /// use es_framework::projection::{Cell, ColumnType as _};
    ///
    /// assert_eq!(310.to_cell("numPages")?, Cell::Integer(310));
    /// assert_eq!(None::<String>.to_cell("reader")?, Cell::Null);
    /// # Ok::<_, es_framework::projection::CellError>(())
    /// ```
    ///
    /// # Errors
    /// The value does not fit the column.
    fn to_cell(&self, name: &str) -> Result<Cell, CellError> {
        cell_from_value(name, self)
    }

    /// Converts a cell to a field.
    ///
    /// ```
    /// use es_framework::projection::{Cell, ColumnType as _};
    ///
    /// assert_eq!(i64::from_cell(Cell::Integer(310), "numPages")?, 310);
    /// # Ok::<_, es_framework::projection::CellError>(())
    /// ```
    ///
    /// # Errors
    /// The cell does not fit the field.
    fn from_cell(cell: Cell, name: &str) -> Result<Self, CellError> {
        value_from_cell(cell, name)
    }
}

macro_rules! columns {
    ($($kind:ident: $($value:ty),*;)*) => {
        $($(impl ColumnType for $value {
            const KIND: ColumnKind = ColumnKind::$kind;
        })*)*
    };
}

columns! {
    Text: String, Box<str>, Arc<str>, Cow<'static, str>;
    Name: uuid::Uuid;
    Integer: i8, i16, i32, i64, u8, u16, u32;
    Real: f32, f64;
    Boolean: bool;
    Timestamp: jiff::Timestamp;
    Date: jiff::civil::Date;
}

impl<T: ColumnType> ColumnType for Option<T> {
    const KIND: ColumnKind = T::KIND;
}

impl<T: HasJson> ColumnType for Vec<T> {
    const KIND: ColumnKind = ColumnKind::Json;
}

impl<T: HasJson> ColumnType for BTreeMap<String, T> {
    const KIND: ColumnKind = ColumnKind::Json;
}

/// A value that does not fit its column, or a cell that does not fit its field.
///
/// ```
/// use es_framework::projection::{Cell, ColumnType as _};
///
/// let error = i64::from_cell(Cell::Text("many".into()), "numPages").unwrap_err();
/// assert!(error.to_string().starts_with("numPages: invalid type"), "{error}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {reason}")]
pub struct CellError {
    name: String,
    reason: String,
}

impl CellError {
    fn new(name: &str, reason: impl ToString) -> Self {
        Self {
            name: name.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// Converts a field to a cell.
fn cell_from_value<T: ColumnType>(name: &str, value: &T) -> Result<Cell, CellError> {
    if T::KIND == ColumnKind::Json {
        return cell_from_json_value(name, value);
    }
    let json = serde_json::to_value(value).map_err(|error| CellError::new(name, error))?;
    let unfit = |value: &Value| {
        let reason = format!("{value} does not fit a column of kind {:?}", T::KIND);
        CellError::new(name, reason)
    };
    Ok(match (T::KIND, json) {
        (_, Value::Null) => {
            check_nothing_fits(name, value)?;
            Cell::Null
        }
        (ColumnKind::Text | ColumnKind::Name, Value::String(text)) => Cell::Text(text),
        (ColumnKind::Timestamp, Value::String(text)) => {
            let time = text.parse().map_err(|error| CellError::new(name, error))?;
            check_time(time).map_err(|error| CellError::new(name, error))?;
            Cell::Text(sortable(time))
        }
        (ColumnKind::Date, Value::String(text)) => {
            let date = text.parse().map_err(|error| CellError::new(name, error))?;
            check_date(date).map_err(|error| CellError::new(name, error))?;
            Cell::Text(text)
        }
        (ColumnKind::Boolean, Value::Bool(truth)) => Cell::Boolean(truth),
        (ColumnKind::Integer, value) => match value.as_i64() {
            Some(number) => Cell::Integer(number),
            None => return Err(unfit(&value)),
        },
        (ColumnKind::Real, value) => match value.as_f64() {
            Some(number) => Cell::Real(number),
            None => return Err(unfit(&value)),
        },
        (_, value) => return Err(unfit(&value)),
    })
}

/// Converts a list or a map to a cell that can be read again.
fn cell_from_json_value<T: ColumnType>(name: &str, value: &T) -> Result<Cell, CellError> {
    let json = match serde_json::to_value(value) {
        Ok(json) => json.to_string(),
        // A `Value` holds no integer of more than 64 bits, but a text does.
        Err(_) => serde_json::to_string(value).map_err(|error| CellError::new(name, error))?,
    };
    if json == "null" {
        check_nothing_fits(name, value)?;
        return Ok(Cell::Null);
    }
    if json.contains("null") {
        check_finite(name, value)?;
    }
    // The type can leave out members that it requires.
    let read: Result<T, _> = serde_json::from_str(&json);
    read.map_err(|error| {
        CellError::new(
            name,
            format!("the JSON of the value cannot be read again: {error}"),
        )
    })?;
    Ok(Cell::Text(json))
}

/// Converts a cell to a field.
fn value_from_cell<T: ColumnType>(cell: Cell, name: &str) -> Result<T, CellError> {
    let value = match (cell, T::KIND) {
        (Cell::Text(json), ColumnKind::Json) => serde_json::from_str(&json),
        (cell, kind) => T::deserialize(scalar_from_cell(cell, kind)),
    };
    value.map_err(|error| CellError::new(name, error))
}

/// Converts a cell to the JSON that clients receive.
pub(crate) fn cell_to_json(
    cell: Cell,
    kind: ColumnKind,
) -> Result<Box<RawValue>, serde_json::Error> {
    match (cell, kind) {
        (Cell::Text(json), ColumnKind::Json) => RawValue::from_string(json),
        (cell, kind) => to_raw_value(&scalar_from_cell(cell, kind)),
    }
}

/// Converts a cell that does not hold JSON.
fn scalar_from_cell(cell: Cell, kind: ColumnKind) -> Value {
    match (cell, kind) {
        // No column of a read model holds bytes.
        (Cell::Null | Cell::Bytes(_), _) => Value::Null,
        (Cell::Text(text), _) => Value::String(text),
        (Cell::Integer(number), ColumnKind::Boolean) => Value::Bool(number != 0),
        (Cell::Integer(number), _) => number.into(),
        (Cell::Real(number), _) => number.into(),
        (Cell::Boolean(truth), _) => Value::Bool(truth),
    }
}

/// Refuses a number that is not finite, which JSON writes as `null`.
fn check_finite<T: Serialize>(name: &str, value: &T) -> Result<(), CellError> {
    let encoded = encode_finite(value);
    encoded
        .map(drop)
        .map_err(|error| CellError::new(name, error))
}

/// Refuses nothing where a field requires a value, and nothing that stands for a number which is not finite.
fn check_nothing_fits<T: ColumnType>(name: &str, value: &T) -> Result<(), CellError> {
    check_finite(name, value)?;
    let read = T::deserialize(Value::Null);
    read.map(drop).map_err(|error| CellError::new(name, error))
}

/// Parses the parameter of a query or a segment of a subject.
///
/// ```
/// use es_framework::projection::column::parse_value;
///
/// assert_eq!(parse_value::<u32>("310"), Ok(310));
/// assert_eq!(parse_value::<bool>("yes"), Err("must be true or false".to_owned()));
/// ```
///
/// # Errors
/// A text that says which values are valid.
pub fn parse_value<T: ColumnType>(text: &str) -> Result<T, String> {
    let json = match T::KIND {
        ColumnKind::Text | ColumnKind::Name => Value::String(text.to_owned()),
        ColumnKind::Timestamp => {
            let time = text.parse().map_err(|_| time_text::RULE)?;
            check_time(time)?;
            Value::String(text.to_owned())
        }
        ColumnKind::Date => {
            let date = text.parse().map_err(|_| time_text::DATE_RULE)?;
            check_date(date)?;
            Value::String(text.to_owned())
        }
        ColumnKind::Integer => {
            let plain = if is_json(text) {
                spell_out_integers(text)
            } else {
                text.into()
            };
            let number: Option<i64> = plain.parse().ok();
            number.ok_or("must be a whole number")?.into()
        }
        ColumnKind::Real => {
            let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
            number.ok_or("must be a number")?.into()
        }
        ColumnKind::Boolean => {
            let truth: Option<bool> = text.parse().ok();
            truth.ok_or("must be true or false")?.into()
        }
        ColumnKind::Json => read_json(text).map_err(|_| "must be JSON")?,
    };
    let value = T::deserialize(json).map_err(|error| format!("is not valid: {error}"))?;
    if matches!(T::KIND, ColumnKind::Real | ColumnKind::Json) {
        // A number of 64 bits can be too large for one of 32 bits.
        encode_finite(&value).map_err(|_| "must be a number in the range of its type")?;
    }
    Ok(value)
}

/// Formats a time with nine digits behind the second. Otherwise `…:00.5Z` would sort before `…:00Z`.
fn sortable(time: jiff::Timestamp) -> String {
    format!("{time:.9}")
}

#[cfg(test)]
mod tests;
