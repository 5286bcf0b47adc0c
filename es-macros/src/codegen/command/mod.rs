//! Expands `#[derive(Command)]`.

mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{derive, manifest::Manifest, unique};

/// Returns the code of `#[derive(Command)]`, or compile errors and a stub.
pub(crate) fn derive_command(input: TokenStream, manifest: &Manifest) -> TokenStream {
    derive::expand_derive(
        input,
        manifest,
        |item, errors| {
            unique::reject_attributes(item, errors);
            check::check_command(item, errors)
        },
        |item, command, framework| expand::expand_command(item, &command, framework),
        expand::generate_stub,
    )
}
