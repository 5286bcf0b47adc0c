//! Parses the `impl` block of a state.

use proc_macro2::TokenStream;
use syn::{Attribute, ImplItem, ItemImpl};

use crate::codegen::{annotated_item, errors::Errors, types};

/// The parsed block.
pub(crate) struct EvolveBlock {
    pub(crate) item: ItemImpl,
    /// The `#[es(…)]` attributes, which the compiler does not know.
    pub(crate) es: Vec<Attribute>,
}

/// Parses the `impl` block.
pub(crate) fn parse_block(input: TokenStream, errors: &mut Errors) -> Option<EvolveBlock> {
    const MESSAGE: &str = "`#[evolve]` stands above the functions by which a state follows from events: write `#[evolve] impl Book { fn purchased(event: &BookPurchasedEvent) -> Self { … } }`";
    let (mut item, es) = annotated_item::parse_annotated_item(
        input,
        |item: &mut ItemImpl| &mut item.attrs,
        MESSAGE,
        errors,
    )?;
    for function in &mut item.items {
        if let ImplItem::Fn(function) = function {
            types::ungroup_signature(&mut function.sig);
        }
    }
    Some(EvolveBlock { item, es })
}
