//! The declaration of a read model whose rows are events: one event, one row.

use crate::Declaration;

/// A table that holds one row for each event of a type, written by `#[event(read_model = "…")]`.
#[derive(Debug, Clone, Copy)]
pub struct ReadModelDescriptor {
    /// The table's name, which is also its path: `books` is served at `/books`.
    pub name: &'static str,
    /// The events that become rows.
    pub event_type: &'static str,
    /// The columns, in the order of the fields.
    pub columns: &'static [Column],
    /// Where it is declared.
    pub declaration: Declaration,
}

inventory::collect!(ReadModelDescriptor);

/// A column and the member of the event that fills it.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The column's name, such as `num_pages`.
    pub name: &'static str,
    /// The member's name in the event's JSON, such as `numPages`.
    pub member: &'static str,
    /// What it holds.
    pub kind: ColumnKind,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A text, a UUID included.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// True or false.
    Boolean,
}

/// A field that can be a column.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a column of a read model",
    label = "this field has no column type",
    note = "columns are texts, UUIDs, whole numbers, floats, booleans and `Option`s of these"
)]
pub trait ColumnValue {
    /// What the column holds.
    const KIND: ColumnKind;
}

macro_rules! columns {
    ($($kind:ident: $($value:ty),*;)*) => {
        $($(impl ColumnValue for $value {
            const KIND: ColumnKind = ColumnKind::$kind;
        })*)*
    };
}

columns! {
    Text: String, uuid::Uuid;
    Integer: i8, i16, i32, i64, u8, u16, u32;
    Real: f32, f64;
    Boolean: bool;
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    const KIND: ColumnKind = T::KIND;
}
