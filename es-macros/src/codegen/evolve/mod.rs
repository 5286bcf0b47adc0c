//! Expands `#[evolve]`.

mod ast;
mod check;
mod expand;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, parse_quote};

use super::{annotated_item, errors::Errors, framework::Framework, manifest::Manifest};

/// Returns the `impl` and the code of `#[evolve]`, or compile errors and a stub.
pub(crate) fn evolve(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let reason = "what a state follows from are the functions of the `impl`";
    annotated_item::refuse_arguments(arguments, "evolve", reason, &mut errors);
    let Some(declared) = ast::parse_block(input.clone(), &mut errors) else {
        let stub = above_the_state(input.clone(), manifest);
        let errors = errors.into_compile_errors();
        return quote!(#errors #input #stub);
    };
    let item = &declared.item;
    let Some(framework) = Framework::resolve(&declared.es, manifest, &mut errors) else {
        let errors = errors.into_compile_errors();
        return quote!(#errors #item);
    };
    let steps = check::check_evolve(item, &mut errors);
    if errors.is_empty() {
        let forwarded = annotated_item::forwarded(&item.attrs);
        let implementation = expand::expand_evolve(&item.self_ty, &forwarded, &steps, &framework);
        return quote!(#item #implementation);
    }
    let stub = item
        .generics
        .params
        .is_empty()
        .then(|| expand::expand_evolve(&item.self_ty, &[], &[], &framework));
    let errors = errors.into_compile_errors();
    quote! {
        #errors

        // Further warnings about a block with mistakes would only distract.
        #[allow(unused)]
        #item

        #stub
    }
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
