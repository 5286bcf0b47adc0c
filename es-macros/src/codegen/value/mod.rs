//! `#[derive(Value)]`: JSON for what commands, events, replies and rows are made of.

mod rules;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::{
    errors::Errors,
    framework::Framework,
    item::{self, Noun},
    manifest::Manifest,
    wire,
};

const NOUN: Noun = Noun {
    indefinite: "a value",
    is_sent: true,
};

/// The code of `#[derive(Value)]`, or the compile errors and as much code as keeps others away.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    let item: DeriveInput = match syn::parse2(input) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let Some(framework) = Framework::resolve(&item.attrs, manifest, &mut errors) else {
        return errors.into_compile_errors();
    };
    item::check(&item, NOUN, &mut errors);
    rules::check(&item, &mut errors);
    if errors.is_empty() {
        return expand(&item, &framework);
    }
    let mut tokens = errors.into_compile_errors();
    if item.generics.params.is_empty() {
        tokens.extend(wire::stub(&item.ident, &framework));
        tokens.extend(rules::stub(&item.ident, &framework));
    }
    tokens
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
