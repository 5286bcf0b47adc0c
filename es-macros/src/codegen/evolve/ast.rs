//! An `impl` as it was written.

use proc_macro2::TokenStream;
use syn::{Attribute, ItemImpl};

use crate::codegen::{errors::Errors, wrong_item};

/// What the developer wrote.
pub(crate) struct Declared {
    pub(crate) item: ItemImpl,
    /// `#[es(…)]`, which the compiler does not know.
    pub(crate) es: Vec<Attribute>,
}

/// Reads the `impl`, if it is one.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    const MESSAGE: &str = "`#[evolve]` stands above the functions by which a state follows from events: write `#[evolve] impl Book { fn purchased(event: &BookPurchasedEvent) -> Self { … } }`";
    match syn::parse2::<ItemImpl>(input.clone()) {
        Ok(mut item) => {
            let is_ours = |attr: &mut Attribute| attr.path().is_ident("es");
            let es = item.attrs.extract_if(.., is_ours).collect();
            Some(Declared { item, es })
        }
        Err(error) => {
            wrong_item::note(input, MESSAGE, error, errors);
            None
        }
    }
}
