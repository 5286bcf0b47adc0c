//! The fields of a key: one, or several as a tuple.

use super::{ColumnType, KeyError, RowKey, column};

/// The type of a key: the type of its field, or the tuple of the types of its fields.
///
/// ```
/// use es_framework::projection::{KeyFields, RowKey};
///
/// let seat = <(String, u32)>::to_row_key((&"A".to_owned(), &7))?;
/// assert_eq!(seat, <(String, u32)>::parse(&["A", "7"])?);
/// assert_eq!(u32::to_row_key(&7)?, RowKey::Integer(7));
/// # Ok::<_, es_framework::projection::KeyError>(())
/// ```
pub trait KeyFields {
    /// References to the fields.
    type Fields<'a>
    where
        Self: 'a;

    /// Borrows the fields.
    fn fields(&self) -> Self::Fields<'_>;

    /// Returns the key of the row.
    ///
    /// # Errors
    /// A field is neither a text nor a whole number.
    fn to_row_key(fields: Self::Fields<'_>) -> Result<RowKey, KeyError>;

    /// Parses the key of the row from segments of a subject, one for each field.
    ///
    /// # Errors
    /// A segment is no value of its field.
    fn parse(segments: &[&str]) -> Result<RowKey, KeyError>;
}

impl<T: ColumnType + 'static> KeyFields for T {
    type Fields<'a> = &'a T;

    fn fields(&self) -> &T {
        self
    }

    fn to_row_key(field: &T) -> Result<RowKey, KeyError> {
        RowKey::from_value(field)
    }

    fn parse(segments: &[&str]) -> Result<RowKey, KeyError> {
        parse_field::<T>(segments.first())
    }
}

fn parse_field<T: ColumnType>(segment: Option<&&str>) -> Result<RowKey, KeyError> {
    let segment = segment.copied().unwrap_or_default();
    let parsed: Result<T, String> = column::parse_value(segment);
    let value = parsed.map_err(|reason| KeyError::Segment {
        segment: segment.to_owned(),
        reason,
    })?;
    RowKey::from_value(&value)
}

macro_rules! tuples {
    ($(($($field:ident: $index:tt),*))*) => {
        $(impl<$($field: ColumnType + 'static),*> KeyFields for ($($field,)*) {
            type Fields<'a> = ($(&'a $field,)*);

            fn fields(&self) -> Self::Fields<'_> {
                ($(&self.$index,)*)
            }

            fn to_row_key(fields: Self::Fields<'_>) -> Result<RowKey, KeyError> {
                Ok(RowKey::Composite(vec![$(RowKey::from_value(fields.$index)?),*]))
            }

            fn parse(segments: &[&str]) -> Result<RowKey, KeyError> {
                Ok(RowKey::Composite(vec![$(parse_field::<$field>(segments.get($index))?),*]))
            }
        })*
    };
}

tuples! {
    (A: 0, B: 1)
    (A: 0, B: 1, C: 2)
    (A: 0, B: 1, C: 2, D: 3)
}
