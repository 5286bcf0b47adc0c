//! Expands `#[derive(State)]`.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{DeriveInput, ext::IdentExt as _};

use super::{
    declaration, declaration_kind::DeclarationKind, derive, framework::Framework, json_impls,
    json_item, manifest::Manifest,
};

/// Returns the code of `#[derive(State)]`, or compile errors and a stub.
pub(crate) fn derive_state(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| {
            json_item::check_json_support(item, DeclarationKind::State, errors);
            Some(())
        },
        |item, (), framework| expand(item, framework),
        |item, framework| stub(&item.ident, framework),
    )
}

fn expand(item: &DeriveInput, framework: &Framework) -> TokenStream {
    let json = json_impls::expand_item(item, DeclarationKind::State, framework);
    let ident = &item.ident;
    // The compiler reports a missing `#[evolve]` at the name of the state.
    let path = framework.with_span(ident.span());
    let source = quote_spanned!(ident.span()=> #path::command::InputSource::state());
    let implementations = implementations(ident, &source, framework);
    quote!(#json #implementations)
}

fn stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let json = json_impls::generate_stub(ident, framework);
    // The stub does not require `#[evolve]`, so that the compiler reports the mistakes in the item and not
    // a missing `#[evolve]` as well.
    let source = quote!(#framework::command::InputSource::service(""));
    let implementations = implementations(ident, &source, framework);
    quote!(#json #implementations)
}

fn implementations(ident: &Ident, source: &TokenStream, framework: &Framework) -> TokenStream {
    let name = ident.unraw().to_string();
    let declaration = declaration(ident, framework);
    quote! {
        #[automatically_derived]
        impl #framework::state::State for #ident {
            const NAME: &'static str = #name;
            const DECLARATION: #framework::Declaration = #declaration;
        }

        #[automatically_derived]
        impl #framework::command::Inject for #ident {
            const SOURCE: #framework::command::InputSource<Self> = #source;
        }
    }
}
