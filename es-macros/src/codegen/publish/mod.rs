//! Expands `#[publish]`.

mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{annotated_function::FunctionMacro, errors::Errors, manifest::Manifest};

/// Returns the function and the code of `#[publish]`, or compile errors and the function.
pub(crate) fn publish(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let personal = attr::parse_arguments(arguments, &mut errors);
    let passes = FunctionMacro {
        no_function: "a publication is a function: write `#[publish]` above `fn copy_available(event: &BookReturnedEvent) -> CopyAvailable { … }`",
        check: check::check_publication,
        expand: expand::expand_publication,
        stub: expand::generate_stub,
    };
    passes.expand_completed(input, manifest, errors, |publication| {
        publication.personal = personal;
    })
}
