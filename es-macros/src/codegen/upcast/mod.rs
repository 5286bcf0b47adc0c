//! Expands `#[upcast]`.

mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{
    annotated_function::FunctionMacro, annotated_item, errors::Errors, manifest::Manifest,
};

/// Returns the function and the code of `#[upcast]`, or compile errors and the function.
pub(crate) fn upcast(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "the function's parameter is the old event and what it returns are the new ones";
    annotated_item::refuse_arguments(arguments, "upcast", reason, &mut errors);
    let passes = FunctionMacro {
        no_function: "an upcaster is a function: write `#[upcast]` above `fn pages_became_a_number(old: BookPurchasedV1) -> BookPurchasedEvent { … }`",
        check: check::check_upcaster,
        expand: expand::expand_upcaster,
        stub: expand::generate_stub,
    };
    passes.expand_annotated(input, manifest, errors)
}
