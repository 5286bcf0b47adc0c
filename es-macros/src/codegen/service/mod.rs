//! `#[derive(Service)]`: what an application provides its handlers with.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, ext::IdentExt as _};

use super::{errors::Errors, framework::Framework, manifest::Manifest};

/// The code of `#[derive(Service)]`, or the compile errors.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    let item: DeriveInput = match syn::parse2(input) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let Some(framework) = Framework::resolve(&item.attrs, manifest, &mut errors) else {
        return errors.into_compile_errors();
    };
    if !item.generics.params.is_empty() {
        let message = "a service is found by its type, which therefore has no generic parameters: write the types out";
        errors.at(&item.generics, message);
        return errors.into_compile_errors();
    }
    if !errors.is_empty() {
        return errors.into_compile_errors();
    }
    let ident = &item.ident;
    let name = ident.unraw().to_string();
    quote! {
        #[automatically_derived]
        impl #framework::command::Inject for #ident {
            const ORIGIN: #framework::command::Origin = #framework::command::Origin::Service(
                #framework::command::ServiceKind::of::<#ident>(#name),
            );
        }
    }
}
