//! Expands `#[reaction]`.

mod attr;
mod check;
mod expand;
mod first_argument;
mod schedule;
pub(crate) mod states;

use proc_macro2::TokenStream;

use super::{annotated_impl::BlockMacro, errors::Errors, manifest::Manifest};

/// Returns the block and the code of `#[reaction]`, or compile errors and the block.
pub(crate) fn reaction(
    arguments: TokenStream,
    input: TokenStream,
    manifest: &Manifest,
) -> TokenStream {
    let mut errors = Errors::default();
    let attr = attr::parse_arguments(arguments, &mut errors);
    let passes = BlockMacro {
        no_block: "a reaction is a block of functions, each from an event to what follows from it: write `pub struct LoanReminder;` and `#[reaction]` above `impl LoanReminder { … }`",
        attributes: &["deadline", "schedule"],
        parameter_attributes: &["subject"],
        expand: expand::expand_reaction,
        stub: |_, _| TokenStream::new(),
    };
    passes.expand_annotated(input, manifest, errors, |declared, errors| {
        check::check_reaction(declared, attr, errors)
    })
}
