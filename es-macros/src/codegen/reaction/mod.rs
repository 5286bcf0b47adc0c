//! Expands `#[reaction]`.

mod attr;
mod check;
mod expand;
mod first_argument;
mod schedule;
mod states;

use proc_macro2::TokenStream;
use quote::quote;

use super::{
    annotated_impl::AnnotatedImpl, errors::Errors, framework::Framework, manifest::Manifest,
};

const NO_BLOCK: &str = "a reaction is a block of functions, each from an event to what follows from it: write `pub struct LoanReminder;` and `#[reaction]` above `impl LoanReminder { … }`";

/// Returns the block and the code of `#[reaction]`, or compile errors and the block.
pub(crate) fn reaction(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let attr = attr::parse_arguments(arguments, &mut errors);
    let Some(declared) = AnnotatedImpl::parse_block(
        input.clone(),
        &["deadline", "schedule"],
        NO_BLOCK,
        &mut errors,
    ) else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #input);
    };
    let block = &declared.block;
    let Some(framework) = Framework::resolve(&declared.es, manifest, &mut errors) else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #block);
    };
    match check::check_reaction(&declared, attr, &mut errors) {
        Some(reaction) if errors.is_empty() => {
            expand::expand_reaction(block, &reaction, &framework)
        }
        _ => {
            let mut block = block.clone();
            // Further warnings about a block with mistakes would only distract.
            block.attrs.push(syn::parse_quote!(#[allow(unused)]));
            let errors = errors.into_compile_errors();
            quote!(#errors #block)
        }
    }
}
