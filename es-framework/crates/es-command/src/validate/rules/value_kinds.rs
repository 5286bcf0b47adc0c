//! The kinds of values that rules apply to: texts, numbers and lists.

use std::{borrow::Cow, fmt::Display, sync::Arc};

/// A string or an optional string.
///
/// ```
/// use es_framework::validate::rules::{self, Text};
///
/// struct Title(String);
///
/// impl Text for Title {
///     fn text(&self) -> Option<&str> {
///         Some(&self.0)
///     }
/// }
///
/// assert_eq!(rules::text(&Title("The Ring".into()), 1, 500), Ok(()));
/// ```
#[diagnostic::on_unimplemented(
    message = "this rule is for texts, not for `{Self}`",
    label = "this field is no text",
    note = "put it on a `String` or an `Option<String>`; for the items of a list, write `#[validate(each(…))]`"
)]
pub trait Text {
    /// Returns the string, if there is one.
    fn text(&self) -> Option<&str>;
}

macro_rules! texts {
    ($($text:ty),*) => {$(
        impl Text for $text {
            fn text(&self) -> Option<&str> {
                Some(self)
            }
        }

        impl Text for Option<$text> {
            fn text(&self) -> Option<&str> {
                self.as_deref()
            }
        }
    )*};
}

texts!(String, Box<str>, Arc<str>, Cow<'_, str>);

/// A number or an optional number.
///
/// ```
/// use es_framework::validate::rules::{self, Number};
///
/// struct Pages(u32);
///
/// impl Number for Pages {
///     type Value = u32;
///
///     fn number(&self) -> Option<u32> {
///         Some(self.0)
///     }
/// }
///
/// assert!(rules::range(&Pages(0), Some(1), None).is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`#[validate(range(…))]` is for numbers, not for `{Self}`",
    label = "this field is no number",
    note = "put the rule on a number or an `Option` of one; for the items of a list, write `#[validate(each(range(…)))]`"
)]
pub trait Number {
    /// The type of the number.
    type Value: PartialOrd + Display + Copy;

    /// Returns the number, if there is one.
    fn number(&self) -> Option<Self::Value>;
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            type Value = Self;

            fn number(&self) -> Option<Self> {
                Some(*self)
            }
        }

        impl Number for Option<$number> {
            type Value = $number;

            fn number(&self) -> Self {
                *self
            }
        }
    )*};
}

numbers!(i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

/// A list or an optional list.
///
/// ```
/// use es_framework::validate::rules::{self, Items};
///
/// struct Shelf(Vec<String>);
///
/// impl Items for Shelf {
///     type Item = String;
///
///     fn items(&self) -> Option<&[String]> {
///         Some(&self.0)
///     }
/// }
///
/// assert!(rules::items(&Shelf(vec![]), Some(1), None).is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "this rule is for lists, not for `{Self}`",
    label = "this field is no list",
    note = "put it on a `Vec` or an `Option` of one"
)]
pub trait Items {
    /// The type of the items.
    type Item;

    /// Returns the list, if there is one.
    fn items(&self) -> Option<&[Self::Item]>;
}

impl<T> Items for Vec<T> {
    type Item = T;

    fn items(&self) -> Option<&[T]> {
        Some(self)
    }
}

impl<T> Items for Option<Vec<T>> {
    type Item = T;

    fn items(&self) -> Option<&[T]> {
        self.as_deref()
    }
}
