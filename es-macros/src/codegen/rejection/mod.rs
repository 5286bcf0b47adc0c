//! Expands `#[derive(Rejection)]`.

mod ast;
mod attr;
mod check;
mod detail;
mod expand;

use proc_macro2::TokenStream;
use syn::Data;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(Rejection)]`, or compile errors and a stub.
pub(crate) fn derive_rejection(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| check::check_rejection(ast::parse_item(item, errors)?, errors),
        |_, rejection, framework| expand::expand_rejection(&rejection, framework),
        |item, framework| match item.data {
            Data::Union(_) => TokenStream::new(),
            _ => expand::generate_stub(&item.ident, framework),
        },
    )
}
