//! Expands `#[derive(Event)]`.

mod ast;
mod attr;
mod check;
mod event_type;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, errors::Errors, manifest::Manifest};

/// Returns the code of `#[derive(Event)]`, or compile errors and a stub.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::derive(
        input,
        manifest,
        |item, errors| check::check(ast::read(item, errors), manifest, errors),
        |_, event, framework| expand::expand(&event, framework),
        |item, framework| {
            let attr = attr::read(&item.attrs, &mut Errors::default());
            expand::stub(&item.ident, &attr.from, framework)
        },
    )
}
