//! `#[derive(ReadModel)]`: from the attributes to the code in passes.

mod ast;
mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest};

/// Returns the code of `#[derive(ReadModel)]`, or its compile errors and placeholder code that prevents
/// further errors.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::derive(
        input,
        manifest,
        |item, errors| check::check(ast::read(item, errors), errors),
        |_, model, framework| expand::expand(&model, framework),
        expand::stub,
    )
}
