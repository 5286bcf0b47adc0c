//! The code of an upcaster that was checked.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

use super::check::Upcaster;
use crate::codegen::{declaration, framework::Framework};

/// The function, the implementation that calls it, and the registration.
pub(crate) fn expand(function: &ItemFn, upcaster: &Upcaster, framework: &Framework) -> TokenStream {
    let Upcaster {
        ident,
        event,
        output,
        forwarded,
    } = upcaster;
    let declaration = declaration(ident, framework);
    let mut registration = quote! {
        #framework::__private::inventory::submit! {
            #framework::event::UpcasterDescriptor::of::<#event>()
        }
    };
    if !forwarded.is_empty() {
        // The call of a macro has no lints of its own.
        registration = quote!(#(#forwarded)* const _: () = { #registration };);
    }
    quote! {
        #function

        #(#forwarded)*
        #[automatically_derived]
        impl #framework::event::Upcast for #event {
            type Becomes = #output;

            const UPCASTER: #framework::Declaration = #declaration;

            fn upcast(self) -> Self::Becomes {
                #ident(self)
            }
        }

        #registration
    }
}
