//! Expands `#[derive(Query)]`.

mod ast;
mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(Query)]`, or compile errors and a stub.
pub(crate) fn derive_query(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| check::check_query(ast::parse_item(item, errors), errors),
        |_, query, framework| expand::expand_query(&query, framework),
        |item, framework| expand::generate_stub(&item.ident, framework),
    )
}
