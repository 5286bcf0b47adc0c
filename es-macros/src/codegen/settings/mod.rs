//! `#[derive(Settings)]`: from the fields of a struct to flags with environment variables behind
//! them.

mod ast;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// The code of `#[derive(Settings)]`, or the compile errors and as much code as keeps others away.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::derive(
        input,
        manifest,
        ast::read,
        |item, settings, framework| expand::expand(&item.ident, &settings, framework),
        |item, framework| expand::stub(&item.ident, framework),
    )
}
