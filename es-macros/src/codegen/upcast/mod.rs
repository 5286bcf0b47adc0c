//! Expands `#[upcast]`.

mod ast;
mod check;
mod expand;

use proc_macro2::TokenStream;
use quote::quote;

use super::{attributed, errors::Errors, framework::Framework, manifest::Manifest};

/// Returns the function and the code of `#[upcast]`, or compile errors and the function.
pub(crate) fn upcast(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "the function's parameter is the old event and what it returns are the new ones";
    attributed::refuse_arguments(arguments, "upcast", reason, &mut errors);
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
        Some(upcaster) if errors.is_empty() => expand::expand(&function, &upcaster, &framework),
        _ => {
            let errors = errors.into_compile_errors();
            quote!(#errors #[allow(unused)] #function)
        }
    }
}
