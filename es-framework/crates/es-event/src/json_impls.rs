//! The macro that gives a type the JSON of a shadow type.

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
/// es_framework::json_impls! { Isbn = Shadow }
///
/// let isbn: Isbn = serde_json::from_str(r#"{"text":"0261103571"}"#)?;
/// assert_eq!(serde_json::to_string(&isbn)?, r#"{"text":"0261103571"}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[macro_export]
macro_rules! json_impls {
    ($type:ident = $shadow:ident) => {
        #[automatically_derived]
        impl $crate::__private::serde::Serialize for $type {
            fn serialize<S: $crate::__private::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                $shadow::serialize(self, serializer)
            }
        }

        #[automatically_derived]
        impl<'de> $crate::__private::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::__private::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                $shadow::deserialize(deserializer)
            }
        }

        #[automatically_derived]
        impl $crate::__private::schemars::JsonSchema for $type {
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
    };
}
