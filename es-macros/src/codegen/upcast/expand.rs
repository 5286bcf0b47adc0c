//! Generates the implementation of `Upcast`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;

use super::check::CheckedUpcaster;
use crate::codegen::{annotated_function::AnnotatedFunction, declaration, framework::Framework};

/// Generates the function, the implementation that calls it, and the registration.
pub(crate) fn expand_upcaster(
    function: &ItemFn,
    upcaster: &CheckedUpcaster,
    framework: &Framework,
) -> TokenStream {
    let CheckedUpcaster {
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
        // A macro call cannot have lint attributes, so a constant surrounds it.
        registration = quote!(#(#forwarded)* const _: () = { #registration };);
    }
    quote! {
        #function

        #(#forwarded)*
        #[automatically_derived]
        impl #framework::event::Upcast for #event {
            type Output = #output;

            const UPCASTER: #framework::Declaration = #declaration;

            fn upcast(self) -> Self::Output {
                #ident(self)
            }
        }

        #registration
    }
}

/// Generates the function of an upcaster with mistakes. Further warnings about it would only distract.
pub(crate) fn generate_stub(declared: &AnnotatedFunction, _: &Framework) -> TokenStream {
    let function = declared.function_without_attributes();
    quote!(#[allow(unused)] #function)
}
