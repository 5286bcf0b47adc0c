//! Generates the code of a public event.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::DeriveInput;

use super::check::CheckedPublicEvent;
use crate::codegen::{
    declaration, declaration_kind::DeclarationKind, framework::Framework, json_impls,
};

/// Generates all implementations and the registration.
pub(super) fn expand_public_event(
    item: &DeriveInput,
    event: &CheckedPublicEvent,
    framework: &Framework,
) -> TokenStream {
    let CheckedPublicEvent { ident, event_type } = event;
    let json = json_impls::expand_item(item, DeclarationKind::PublicEvent, framework);
    let implementation = expand_impl(ident, &event_type.text, framework);
    let manifest = event_type.expand_manifest_dependency();
    quote! {
        #json

        #implementation

        #framework::__private::inventory::submit! {
            #framework::publication::PublicEventDescriptor::of::<#ident>()
        }

        #manifest
    }
}

fn expand_impl(ident: &Ident, event_type: &str, framework: &Framework) -> TokenStream {
    let declaration = declaration(ident, framework);
    quote! {
        #[automatically_derived]
        impl #framework::publication::PublicEvent for #ident {
            const TYPE: &'static str = #event_type;
            const DECLARATION: #framework::Declaration = #declaration;
        }
    }
}

/// Generates stub implementations for a public event with mistakes, so that the compiler reports only those mistakes.
pub(super) fn generate_stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let json = json_impls::generate_stub(ident, framework);
    let implementation = expand_impl(ident, "", framework);
    quote!(#json #implementation)
}
