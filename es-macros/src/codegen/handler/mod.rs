//! Expands `#[handler]`.

mod ast;
mod check;
mod expand;
mod parameter;

use proc_macro2::TokenStream;
use quote::quote;

use super::{attributed, errors::Errors, framework::Framework, manifest::Manifest};

/// Returns the function and the code of `#[handler]`, or compile errors and a stub.
pub(crate) fn handler(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "what it decides on is the function's parameter";
    attributed::refuse_arguments(arguments, "handler", reason, &mut errors);
    let Some(declared) = ast::read(input.clone(), &mut errors) else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #input);
    };
    let function = declared.function();
    let Some(framework) = Framework::resolve(&declared.es, manifest, &mut errors) else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #function);
    };
    match check::check(&declared, &mut errors) {
        Some(handler) if errors.is_empty() => expand::expand(&function, &handler, &framework),
        _ => {
            let stubbed = expand::stub(&declared, &framework);
            let errors = errors.into_compile_errors();
            quote!(#errors #stubbed)
        }
    }
}
