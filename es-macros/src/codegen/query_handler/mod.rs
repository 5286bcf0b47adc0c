//! Expands `#[query_handler]`.

mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;

use super::{annotated_function::FunctionMacro, errors::Errors, manifest::Manifest};

/// Returns the function and the code of `#[query_handler]`, or compile errors and the function.
pub(crate) fn query_handler(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reads = attr::parse_arguments(arguments, &mut errors);
    let passes = FunctionMacro {
        no_function: "a query handler is a function: write `#[query_handler]` above `async fn list(query: ListLoans, context: &QueryContext<'_>) -> Result<Page<Loan>, QueryError> { … }`",
        check: check::check_query_handler,
        expand: expand::expand_query_handler,
        stub: expand::generate_stub,
    };
    passes.expand_completed(input, manifest, errors, |checked| checked.reads = reads)
}
