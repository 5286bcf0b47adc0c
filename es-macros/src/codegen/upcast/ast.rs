//! Parses the function of an upcaster.

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, ItemFn};

use crate::codegen::{attributed, errors::Errors, types};

/// The parsed function.
pub(crate) struct Declared {
    pub(crate) item: ItemFn,
    /// The `#[es(…)]` attributes, which the compiler does not know.
    pub(crate) es: Vec<Attribute>,
}

/// Parses the function.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    let message = "an upcaster is a function: write `#[upcast]` above `fn pages_became_a_number(old: BookPurchasedV1) -> BookPurchasedEvent { … }`";
    let (mut item, es) =
        attributed::read(input, |item: &mut ItemFn| &mut item.attrs, message, errors)?;
    types::ungroup_signature(&mut item.sig);
    Some(Declared { item, es })
}

impl Declared {
    /// Returns the function without the attributes that the compiler does not know.
    pub(crate) fn function(&self) -> ItemFn {
        let mut function = self.item.clone();
        for parameter in &mut function.sig.inputs {
            if let FnArg::Typed(parameter) = parameter {
                parameter.attrs.clear();
            }
        }
        function
    }
}
