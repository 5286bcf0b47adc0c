//! `#[derive(State)]`: what is known of a subject.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{DeriveInput, ext::IdentExt as _};

use super::{
    declaration,
    errors::Errors,
    framework::Framework,
    item::{self, Noun},
    manifest::Manifest,
    wire,
};

const NOUN: Noun = Noun {
    indefinite: "a state",
    is_sent: false,
};

/// The code of `#[derive(State)]`, or the compile errors and as much code as keeps others away.
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
    if errors.is_empty() {
        let json = wire::expand_item(&item, &framework);
        let ident = &item.ident;
        let origin = quote! {
            #framework::command::Origin::State(#framework::state::StateKind::of::<#ident>())
        };
        let implementations = implementations(ident, &origin, &framework);
        return quote!(#json #implementations);
    }
    let mut tokens = errors.into_compile_errors();
    if item.generics.params.is_empty() {
        tokens.extend(wire::stub(&item.ident, &framework));
        // No origin that asks for `#[evolve]`, the lack of which is another mistake.
        let origin = quote!(#framework::command::Origin::Metadata);
        tokens.extend(implementations(&item.ident, &origin, &framework));
    }
    tokens
}

fn implementations(ident: &Ident, origin: &TokenStream, framework: &Framework) -> TokenStream {
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
            const ORIGIN: #framework::command::Origin = #origin;
        }
    }
}
