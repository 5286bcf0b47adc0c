//! `#[derive(Event)]`: from the attributes to the code in passes.

mod ast;
mod attr;
mod check;
mod event_type;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// The code of `#[derive(Event)]`, or the compile errors and as much code as keeps others away.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::derive(
        input,
        manifest,
        |item, errors| check::check(ast::read(item, errors), manifest, errors),
        |_, event, framework| expand::expand(&event, framework),
        |item, framework| expand::stub(&item.ident, framework),
    )
}
