//! The macro that gives a type the JSON of a shadow type, and the traits with which a type without JSON gets one message.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserializer, Serialize, Serializer, de::DeserializeOwned};

/// A type with JSON and its schema. The trait exists for the compiler's message about other types.
///
/// ```
/// use es_event::__private::HasJson;
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct Price {
///     cents: i64,
/// }
///
/// const fn has_json<T: HasJson>() {}
/// const _: () = has_json::<Vec<Price>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no JSON",
    label = "the fields of this type have no JSON yet",
    note = "put `#[derive(Value)]` on a struct or an enum of your own; a point in time is a `Timestamp`, a date is a `Date`, and a length of time is a whole number of seconds"
)]
pub trait HasJson: Serialize + DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> HasJson for T {}

/// Lets a `where` clause assume a bound that the compiler does not check there: `for<'x> <T as Itself<'x>>::Type: HasJson`
/// is `T: HasJson`, and the compiler checks only clauses without lifetimes at their place.
#[doc(hidden)]
pub trait Itself<'x> {
    /// The type itself.
    type Type;
}

impl<T> Itself<'_> for T {
    type Type = T;
}

/// Reports a type without JSON.
#[doc(hidden)]
pub const fn check_json<T: HasJson>() {}

/// The functions of a shadow type with a field that has no JSON. The compiler has reported the field, so nothing calls
/// them.
#[doc(hidden)]
#[allow(missing_docs, clippy::missing_errors_doc)]
pub trait MissingJson {
    fn serialize<T, S: Serializer>(_: &T, _: S) -> Result<S::Ok, S::Error> {
        unreachable!()
    }

    fn deserialize<'de, T, D: Deserializer<'de>>(_: D) -> Result<T, D::Error> {
        unreachable!()
    }

    fn schema_name() -> Cow<'static, str> {
        unreachable!()
    }

    fn schema_id() -> Cow<'static, str> {
        unreachable!()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        unreachable!()
    }
}

impl<T> MissingJson for T {}

/// Implements `Serialize`, `Deserialize` and `JsonSchema` for a type through a shadow type: a type with the same
/// fields that has `#[serde(remote = "…")]`. The derive macros of the framework write a shadow type and a call of this
/// macro.
///
/// ```
/// struct Isbn {
///     text: String,
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// #[serde(remote = "Isbn", rename_all = "camelCase")]
/// struct Shadow {
///     text: String,
/// }
///
/// es_event::json_impls! { Isbn = Shadow }
///
/// let isbn: Isbn = serde_json::from_str(r#"{"text":"0261103571"}"#)?;
/// assert_eq!(serde_json::to_string(&isbn)?, r#"{"text":"0261103571"}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! json_impls {
    ($type:ident = $shadow:ident) => {
        $crate::json_impls! {
            @impls $type, $shadow, [<$shadow as $crate::__private::schemars::JsonSchema>]
        }
    };
    // The types inside the fields may have no JSON. Then the compiler reports them, and nothing else.
    ($type:ident = $shadow:ident where $($inside:ty),+) => {
        struct __Json;

        #[allow(dead_code)]
        impl __Json
        where
            $(for<'x> <$inside as $crate::__private::Itself<'x>>::Type: $crate::__private::HasJson),+
        {
            fn serialize<S: $crate::__private::serde::Serializer>(
                value: &$type,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $shadow::serialize(value, serializer)
            }

            fn deserialize<'de, D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<$type, D::Error> {
                $shadow::deserialize(deserializer)
            }

            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                <$shadow as $crate::__private::schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                <$shadow as $crate::__private::schemars::JsonSchema>::schema_id()
            }

            fn json_schema(
                generator: &mut $crate::__private::schemars::SchemaGenerator,
            ) -> $crate::__private::schemars::Schema {
                <$shadow as $crate::__private::schemars::JsonSchema>::json_schema(generator)
            }
        }

        $crate::json_impls! { @impls $type, __Json, [__Json] }
    };
    (@impls $type:ident, $functions:ident, [$($schema:tt)+]) => {
        #[automatically_derived]
        impl $crate::__private::serde::Serialize for $type {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                #[allow(unused_imports)]
                use $crate::__private::MissingJson as _;
                $functions::serialize(self, serializer)
            }
        }

        #[automatically_derived]
        impl<'de> $crate::__private::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #[allow(unused_imports)]
                use $crate::__private::MissingJson as _;
                $functions::deserialize(deserializer)
            }
        }

        #[automatically_derived]
        impl $crate::__private::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                #[allow(unused_imports)]
                use $crate::__private::MissingJson as _;
                $($schema)+::schema_name()
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                #[allow(unused_imports)]
                use $crate::__private::MissingJson as _;
                $($schema)+::schema_id()
            }

            fn json_schema(
                generator: &mut $crate::__private::schemars::SchemaGenerator,
            ) -> $crate::__private::schemars::Schema {
                #[allow(unused_imports)]
                use $crate::__private::MissingJson as _;
                $($schema)+::json_schema(generator)
            }
        }
    };
}
