//! Expands `#[derive(PublicEvent)]`.

mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(PublicEvent)]`, or compile errors and a stub.
pub(crate) fn derive_public_event(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| check::check_public_event(item, manifest, errors),
        |item, event, framework| expand::expand_public_event(item, &event, framework),
        |item, framework| expand::generate_stub(&item.ident, framework),
    )
}
