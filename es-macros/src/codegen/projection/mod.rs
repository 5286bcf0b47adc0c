//! Expands `#[projection]`.

mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{annotated_impl::BlockMacro, annotated_item, errors::Errors, manifest::Manifest};

/// Returns the block and the code of `#[projection]`, or compile errors and a stub.
pub(crate) fn projection(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "which events a row follows from is said by its functions";
    annotated_item::refuse_arguments(arguments, "projection", reason, &mut errors);
    let passes = BlockMacro {
        no_block: "a projection is a block of functions, one for each event: write `#[projection]` above `impl BookCopy { … }`",
        attributes: &["key", "each"],
        parameter_attributes: &[],
        expand: expand::expand_projection,
        stub: expand::generate_stub,
    };
    passes.expand_annotated(input, manifest, errors, check::check_projection)
}
