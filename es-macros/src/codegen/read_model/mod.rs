//! Expands `#[derive(ReadModel)]`.

mod ast;
mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(ReadModel)]`, or compile errors and a stub.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::derive(
        input,
        manifest,
        |item, errors| check::check(ast::parse_item(item, errors), errors),
        |_, model, framework| expand::expand(&model, framework),
        expand::generate_stub,
    )
}
