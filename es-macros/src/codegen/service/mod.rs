//! Expands `#[derive(Service)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, ext::IdentExt as _};

use super::{derive, framework::Framework, generics, manifest::Manifest};

/// Returns the code of `#[derive(Service)]`, or compile errors and a stub.
pub(crate) fn derive_service(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| {
            let message = "a service is found by its type, which therefore has no generic parameters: write the types out";
            generics::reject_generics(&item.generics, message, errors);
            Some(())
        },
        |item, (), framework| inject_impl(&item.ident, framework),
        |item, framework| inject_impl(&item.ident, framework),
    )
}

/// Generates the implementation that injects a provided value.
pub(crate) fn inject_impl(ident: &Ident, framework: &Framework) -> TokenStream {
    let name = ident.unraw().to_string();
    quote! {
        #[automatically_derived]
        impl #framework::command::Inject for #ident {
            const SOURCE: #framework::command::InputSource<Self> =
                #framework::command::InputSource::service(#name);
        }
    }
}
