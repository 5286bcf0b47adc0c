//! The types of a query's fields: one value, an `Option` of one, or a `Vec` of several.

use std::{borrow::Cow, sync::Arc};

use jiff::{Timestamp, civil::Date};
use uuid::Uuid;

use super::{QueryError, QueryParameters};
use crate::projection::ColumnType;

/// The number of values that a parameter takes.
///
/// ```
/// use es_framework::query::{QueryField, ValueCount};
///
/// type Title = Option<String>;
///
/// assert_eq!(<Title as QueryField>::COUNT, ValueCount::Optional);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueCount {
    /// One value, which has to be present.
    Required,
    /// One value, which may be absent.
    Optional,
    /// Several values.
    Several,
}

impl ValueCount {
    /// Returns whether there is always one value.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_required(self) -> bool {
        matches!(self, Self::Required)
    }

    /// Returns whether there may be several values.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_several(self) -> bool {
        matches!(self, Self::Several)
    }
}

/// The type of a query's field: a value, or an `Option` or a `Vec` of values.
///
/// ```
/// use es_framework::query::{QueryField, QueryParameters};
///
/// let mut parameters = QueryParameters::new([("pages".to_owned(), "310".to_owned())])?;
/// let pages = <Option<u32> as QueryField>::take(&mut parameters, "pages")?;
/// assert_eq!(pages.values(), [310]);
/// # Ok::<_, es_framework::query::QueryError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a query",
    label = "this is no type of a parameter",
    note = "a parameter is a text, a UUID, a whole number of up to 64 bits with a sign or 32 without, a float, a boolean, a timestamp, a date, an enum with `#[derive(Value)]`, or an `Option` or a `Vec` of these"
)]
pub trait QueryField: Sized {
    /// The type of one value.
    type Value: ColumnType;

    /// The number of values.
    const COUNT: ValueCount;

    /// Takes the values of the parameter with this name.
    ///
    /// # Errors
    /// A value is malformed, or their number is wrong.
    fn take(parameters: &mut QueryParameters, name: &'static str) -> Result<Self, QueryError>;

    /// Returns the values.
    fn values(&self) -> &[Self::Value];
}

/// The type of one value of a parameter. `#[derive(Value)]` implements the trait for an enum without data.
///
/// ```
/// use es_framework::{prelude::*, query::ParameterValue};
///
/// #[derive(Value)]
/// enum Status {
///     Available,
///     Lent,
/// }
///
/// fn takes<T: ParameterValue>() {}
/// takes::<Status>();
/// ```
pub trait ParameterValue: ColumnType {}

macro_rules! values {
    ($($value:ty),*) => {
        $(impl ParameterValue for $value {})*
    };
}

values! {
    String, Box<str>, Arc<str>, Cow<'static, str>,
    Uuid, bool, i8, i16, i32, i64, u8, u16, u32, f32, f64, Timestamp, Date
}

#[diagnostic::do_not_recommend]
impl<T: ParameterValue> QueryField for T {
    type Value = T;

    const COUNT: ValueCount = ValueCount::Required;

    fn take(parameters: &mut QueryParameters, name: &'static str) -> Result<Self, QueryError> {
        parameters.take_required(name)
    }

    fn values(&self) -> &[T] {
        std::slice::from_ref(self)
    }
}

impl<T: ParameterValue> QueryField for Option<T> {
    type Value = T;

    const COUNT: ValueCount = ValueCount::Optional;

    fn take(parameters: &mut QueryParameters, name: &'static str) -> Result<Self, QueryError> {
        parameters.take_optional(name)
    }

    fn values(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: ParameterValue> QueryField for Vec<T> {
    type Value = T;

    const COUNT: ValueCount = ValueCount::Several;

    fn take(parameters: &mut QueryParameters, name: &'static str) -> Result<Self, QueryError> {
        parameters.take_multi_valued(name)
    }

    fn values(&self) -> &[T] {
        self
    }
}
