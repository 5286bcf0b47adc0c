//! Expands `#[derive(Value)]`, which gives JSON to the parts of commands, events, replies and rows.

mod validation;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::{
    declaration_kind::DeclarationKind, derive, framework::Framework, json_impls, json_item,
    manifest::Manifest, personal, unique,
};

/// Returns the code of `#[derive(Value)]`, or compile errors and a stub.
pub(crate) fn derive_value(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| {
            json_item::check_json_support(item, DeclarationKind::Value, errors);
            validation::check_rules(item, errors);
            personal::check_item(item, errors);
            unique::reject_attributes(item, errors);
            Some(())
        },
        |item, (), framework| expand(item, framework),
        |item, framework| {
            let mut stub = json_impls::generate_stub(&item.ident, framework);
            stub.extend(validation::generate_stub(&item.ident, framework));
            stub
        },
    )
}

fn expand(item: &DeriveInput, framework: &Framework) -> TokenStream {
    let json = json_impls::expand_item(item, DeclarationKind::Value, framework);
    let rules = validation::expand_validate(item, framework);
    let ident = &item.ident;
    let column = json_item::is_enum_of_plain_words(item).then(|| {
        quote! {
            #[automatically_derived]
            impl #framework::projection::ColumnType for #ident {
                const KIND: #framework::projection::ColumnKind =
                    #framework::projection::ColumnKind::Name;
            }

            #[automatically_derived]
            impl #framework::query::ParameterValue for #ident {}
        }
    });
    quote!(#json #rules #column)
}
