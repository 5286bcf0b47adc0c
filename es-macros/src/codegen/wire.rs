//! The JSON of a declared struct: reading, writing and schema, all from one shadow of it that
//! serde and schemars derive for.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Attribute, ext::IdentExt as _};

use super::{
    fields::{Field, Kind},
    framework::Framework,
};

/// The attributes that mean something to the shadow's derives.
const FORWARDED: [&str; 3] = ["doc", "serde", "schemars"];

fn forwarded(attrs: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    let is_forwarded = |attr: &&Attribute| FORWARDED.iter().any(|name| attr.path().is_ident(name));
    attrs.iter().filter(is_forwarded)
}

/// A struct that has JSON.
#[derive(Clone, Copy)]
pub(crate) struct Wire<'a> {
    pub(crate) kind: Kind,
    pub(crate) ident: &'a Ident,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) fields: &'a [WireField<'a>],
}

/// One of its fields.
pub(crate) struct WireField<'a> {
    pub(crate) field: &'a Field,
    /// What its schema says beyond the type, as an attribute of schemars.
    pub(crate) constraints: Option<TokenStream>,
}

impl Wire<'_> {
    /// `impl Serialize`, `Deserialize` and `JsonSchema`.
    pub(crate) fn expand(self, framework: &Framework) -> TokenStream {
        let shadow = self.shadow(framework);
        let impls = impls(
            self.ident,
            framework,
            &Bodies {
                serialize: quote!(__Wire::serialize(self, serializer)),
                deserialize: quote!(__Wire::deserialize(deserializer)),
                schema_name: quote!(__Wire::schema_name()),
                schema_id: quote!(__Wire::schema_id()),
                json_schema: quote!(__Wire::json_schema(generator)),
            },
        );
        quote! {
            const _: () = {
                use #framework::__private::schemars::JsonSchema as _;

                #shadow

                #impls
            };
        }
    }

    fn shadow(self, framework: &Framework) -> TokenStream {
        let remote = self.ident.to_string();
        let name = self.ident.unraw().to_string();
        let serde = format!("{}::__private::serde", framework.text());
        let schemars = format!("{}::__private::schemars", framework.text());
        // Commands are strict, for a misspelt member would otherwise be lost in silence. Events
        // are lenient, for an older release reads what a newer one wrote.
        let strict = (self.kind == Kind::Command).then(|| quote!(deny_unknown_fields,));
        let attrs = forwarded(self.attrs);
        let fields = self.fields.iter().map(|field| {
            let Field {
                ident, ty, attrs, ..
            } = field.field;
            let attrs = forwarded(attrs);
            let constraints = &field.constraints;
            quote!(#(#attrs)* #constraints #ident: #ty)
        });
        quote! {
            #[derive(
                #framework::__private::serde::Serialize,
                #framework::__private::serde::Deserialize,
                #framework::__private::schemars::JsonSchema,
            )]
            #(#attrs)*
            #[serde(
                crate = #serde,
                remote = #remote,
                rename = #name,
                rename_all = "camelCase",
                #strict
            )]
            #[schemars(crate = #schemars)]
            #[allow(dead_code)]
            struct __Wire {
                #(#fields,)*
            }
        }
    }
}

/// What stands in for the JSON of an item with mistakes, so that they are all that is reported.
pub(crate) fn stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let unreachable = || quote!(::core::unreachable!());
    impls(
        ident,
        framework,
        &Bodies {
            serialize: unreachable(),
            deserialize: unreachable(),
            schema_name: unreachable(),
            schema_id: unreachable(),
            json_schema: unreachable(),
        },
    )
}

struct Bodies {
    serialize: TokenStream,
    deserialize: TokenStream,
    schema_name: TokenStream,
    schema_id: TokenStream,
    json_schema: TokenStream,
}

fn impls(ident: &Ident, framework: &Framework, bodies: &Bodies) -> TokenStream {
    let Bodies {
        serialize,
        deserialize,
        schema_name,
        schema_id,
        json_schema,
    } = bodies;
    let serde = quote!(#framework::__private::serde);
    let schemars = quote!(#framework::__private::schemars);
    quote! {
        #[automatically_derived]
        impl #serde::Serialize for #ident {
            fn serialize<S: #serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                #serialize
            }
        }

        #[automatically_derived]
        impl<'de> #serde::Deserialize<'de> for #ident {
            fn deserialize<D: #serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::core::result::Result<Self, D::Error> {
                #deserialize
            }
        }

        #[automatically_derived]
        impl #schemars::JsonSchema for #ident {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                #schema_name
            }

            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                #schema_id
            }

            fn json_schema(generator: &mut #schemars::SchemaGenerator) -> #schemars::Schema {
                #json_schema
            }
        }
    }
}
