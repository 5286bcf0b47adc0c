//! Expands `#[derive(Query)]`.

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
        check::check_query,
        |_, query, framework| expand::expand_query(&query, framework),
        |item, framework| expand::generate_stub(&item.ident, framework),
    )
}
