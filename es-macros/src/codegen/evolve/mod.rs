//! Expands `#[evolve]`.

mod check;
mod expand;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_quote};

use super::{
    annotated_impl::BlockMacro, annotated_item, errors::Errors, framework::Framework,
    manifest::Manifest,
};

/// Returns the `impl` and the code of `#[evolve]`, or compile errors and a stub.
pub(crate) fn evolve(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "what a state follows from are the functions of the `impl`";
    annotated_item::refuse_arguments(arguments, "evolve", reason, &mut errors);
    let stub = above_the_state(input.clone(), manifest);
    let passes = BlockMacro {
        no_block: "`#[evolve]` stands above the functions by which a state follows from events: write `#[evolve] impl Book { fn purchased(event: &BookPurchasedEvent) -> Self { … } }`",
        attributes: &[],
        parameter_attributes: &[],
        expand: |block, steps: &Vec<_>, framework| {
            let forwarded = annotated_item::forwarded(&block.attrs);
            let code = expand::expand_evolve(&block.self_ty, &forwarded, steps, framework);
            quote!(#block #code)
        },
        stub: |block, framework| expand::expand_evolve(&block.self_ty, &[], &[], framework),
    };
    let expanded = passes.expand_annotated(input, manifest, errors, |declared, errors| {
        Some(check::check_evolve(declared, errors))
    });
    quote!(#expanded #stub)
}

/// Generates a stub for a state that has the attribute instead of its `impl`. Without the stub, the
/// compiler would also report that the state does not implement `Evolve`.
fn above_the_state(input: TokenStream, manifest: &Manifest) -> Option<TokenStream> {
    let item: DeriveInput = syn::parse2(input).ok()?;
    let is_plain = item.generics.params.is_empty();
    let framework = Framework::resolve(&item.attrs, manifest, &mut Errors::default())?;
    let ident = &item.ident;
    is_plain.then(|| expand::expand_evolve(&parse_quote!(#ident), &[], &[], &framework))
}
