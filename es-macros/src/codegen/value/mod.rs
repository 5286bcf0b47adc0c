//! Expands `#[derive(Value)]`, which gives JSON to the parts of commands, events, replies and rows.

mod rules;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::{
    derive,
    framework::Framework,
    item::{self, Noun},
    manifest::Manifest,
    wire,
};

const NOUN: Noun = Noun {
    indefinite: "a value",
    is_sent: true,
};

/// Returns the code of `#[derive(Value)]`, or compile errors and a stub.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::derive(
        input,
        manifest,
        |item, errors| {
            item::check(item, NOUN, errors);
            rules::check(item, errors);
            Some(())
        },
        |item, (), framework| expand(item, framework),
        |item, framework| {
            let mut stub = wire::stub(&item.ident, framework);
            stub.extend(rules::stub(&item.ident, framework));
            stub
        },
    )
}

fn expand(item: &DeriveInput, framework: &Framework) -> TokenStream {
    let json = wire::expand_item(item, framework);
    let rules = rules::expand(item, framework);
    let ident = &item.ident;
    let column = item::is_word(item).then(|| {
        quote! {
            #[automatically_derived]
            impl #framework::projection::ColumnValue for #ident {
                const KIND: #framework::projection::ColumnKind =
                    #framework::projection::ColumnKind::Text;
            }
        }
    });
    quote!(#json #rules #column)
}
