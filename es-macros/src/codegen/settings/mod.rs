//! Expands `#[derive(Settings)]`, which turns the fields of a struct into flags with environment
//! variables.

mod ast;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(Settings)]`, or compile errors and a stub.
pub(crate) fn derive_settings(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        ast::parse_struct,
        |item, settings, framework| expand::expand_settings(&item.ident, &settings, framework),
        |item, framework| expand::generate_stub(&item.ident, framework),
    )
}
