//! An upcaster as it was written.

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, ItemFn};

use crate::codegen::{errors::Errors, wrong_item};

/// What the developer wrote.
pub(crate) struct Declared {
    pub(crate) item: ItemFn,
    /// `#[es(…)]`, which the compiler does not know.
    pub(crate) es: Vec<Attribute>,
}

/// Reads the function, if it is one.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    match syn::parse2::<ItemFn>(input.clone()) {
        Ok(mut item) => {
            let is_ours = |attr: &mut Attribute| attr.path().is_ident("es");
            let es = item.attrs.extract_if(.., is_ours).collect();
            Some(Declared { item, es })
        }
        Err(error) => {
            let message = "an upcaster is a function: write `#[upcast]` above `fn pages_became_a_number(old: BookPurchasedV1) -> BookPurchasedEvent { … }`";
            wrong_item::note(input, message, error, errors);
            None
        }
    }
}

impl Declared {
    /// The function without what the compiler does not know.
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
