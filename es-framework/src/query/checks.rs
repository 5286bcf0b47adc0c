//! What has the compiler compare the fields of a query with those of a row.

/// A value that the column of a field `C` is compared with.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not compared with `{C}`",
    label = "the row's field is another type",
    note = "give the query's field the type of the row's field"
)]
pub trait ComparedWith<C> {}

impl<T> ComparedWith<T> for T {}
impl<T> ComparedWith<Option<T>> for T {}

/// Compiles if the two are compared.
pub const fn comparable<C, V: ComparedWith<C>>(_: &V, _: &C) {}

/// Compiles if the value, where there is one, is compared with the field.
pub const fn comparable_option<C, V: ComparedWith<C>>(_: &Option<V>, _: &C) {}

/// Compiles if each of the values is compared with the field.
pub const fn comparable_list<C, V: ComparedWith<C>>(_: &Vec<V>, _: &C) {}
