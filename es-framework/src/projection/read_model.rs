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

/// All read models of an application, sorted, without a doubt about any of them.
#[derive(Debug, Clone, Default)]
pub struct ReadModels(Vec<ReadModelDescriptor>);

/// Why an application does not start.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadModelsError {
    /// Two read models have one name.
    #[error(
        "two read models are named {name}: at {first} and at {second}: rename one of them in #[event(read_model = \"…\")]"
    )]
    DuplicateName {
        /// The name.
        name: &'static str,
        /// Where one is declared.
        first: Declaration,
        /// Where the other is declared.
        second: Declaration,
    },
}

impl ReadModels {
    /// Checks the read models that were declared.
    ///
    /// # Errors
    /// Two of them have one name.
    pub fn new(
        declared: impl IntoIterator<Item = ReadModelDescriptor>,
    ) -> Result<Self, ReadModelsError> {
        let mut models: Vec<_> = declared.into_iter().collect();
        models.sort_by_key(|model| (model.name, model.declaration));
        for (first, second) in models.iter().zip(models.iter().skip(1)) {
            if first.name == second.name {
                return Err(ReadModelsError::DuplicateName {
                    name: first.name,
                    first: first.declaration,
                    second: second.declaration,
                });
            }
        }
        Ok(Self(models))
    }

    /// The read models, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &ReadModelDescriptor> {
        self.0.iter()
    }
}
