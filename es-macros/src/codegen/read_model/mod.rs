//! Expands `#[derive(ReadModel)]`.

mod attr;
mod check;
mod expand;
mod search_attr;
mod visible_attr;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(ReadModel)]`, or compile errors and a stub.
pub(crate) fn derive_read_model(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        check::check_read_model,
        |item, model, framework| expand::expand_read_model(item, &model, framework),
        expand::generate_stub,
    )
}
