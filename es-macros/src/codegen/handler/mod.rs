//! Expands `#[handler]`.

mod check;
mod command_parameter;
mod expand;
pub(crate) mod parameter;
mod without_body;

use proc_macro2::TokenStream;

use super::{
    annotated_function::FunctionMacro, annotated_item, errors::Errors, manifest::Manifest,
};

/// Returns the function and the code of `#[handler]`, or compile errors and a stub.
pub(crate) fn handler(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "what it decides on is the function's parameter";
    annotated_item::refuse_arguments(arguments, "handler", reason, &mut errors);
    let input = without_body::add_body(input, &mut errors);
    let passes = FunctionMacro {
        no_function: "a handler is a function: write `#[handler]` above `fn decide(command: PurchaseBookCommand) -> BookPurchasedEvent { … }`",
        check: check::check_handler,
        expand: expand::expand_handler,
        stub: expand::generate_stub,
    };
    passes.expand_annotated(input, manifest, errors)
}
