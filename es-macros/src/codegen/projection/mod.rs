//! Expands `#[projection]`.

mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;
use quote::quote;

use super::{
    annotated_impl::AnnotatedImpl, annotated_item, errors::Errors, framework::Framework,
    manifest::Manifest,
};

const NO_BLOCK: &str = "a projection is a block of functions, one for each event: write `#[projection]` above `impl BookCopy { … }`";

/// Returns the block and the code of `#[projection]`. After mistakes, returns compile errors with the
/// item, or with a stub if the block was read and the framework found.
pub(crate) fn projection(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "which events a row follows from is said by its functions";
    annotated_item::refuse_arguments(arguments, "projection", reason, &mut errors);
    let Some(declared) =
        AnnotatedImpl::parse_block(input.clone(), &["key", "each"], NO_BLOCK, &mut errors)
    else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #input);
    };
    let block = &declared.block;
    let Some(framework) = Framework::resolve(&declared.es, manifest, &mut errors) else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #block);
    };
    match check::check_projection(&declared, &mut errors) {
        Some(projection) if errors.is_empty() => {
            expand::expand_projection(block, &projection, &framework)
        }
        _ => {
            let stubbed = expand::generate_stub(block, &framework);
            let errors = errors.into_compile_errors();
            quote!(#errors #stubbed)
        }
    }
}
