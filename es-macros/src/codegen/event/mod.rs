//! Expands `#[derive(Event)]`.

mod attr;
mod check;
pub(crate) mod event_type;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, errors::Errors, manifest::Manifest, personal};

/// Returns the code of `#[derive(Event)]`, or compile errors and a stub.
pub(crate) fn derive_event(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| {
            personal::check_item(item, errors);
            check::check_event(item, manifest, errors)
        },
        |item, event, framework| expand::expand_event(item, &event, framework),
        |item, framework| {
            let attr = attr::parse_attributes(&item.attrs, &mut Errors::default());
            expand::generate_stub(&item.ident, &attr.from, framework)
        },
    )
}
