//! A reaction as it was written.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{Attribute, ImplItem, ImplItemFn, Item, ItemImpl};

use crate::codegen::errors::Errors;

/// What the developer wrote.
pub(crate) struct Declared {
    /// The block without the attributes that the compiler does not know.
    pub(crate) block: ItemImpl,
    /// `#[es(…)]` above the block.
    pub(crate) es: Vec<Attribute>,
    pub(crate) functions: Vec<Function>,
}

/// A function of the block.
pub(crate) struct Function {
    pub(crate) item: ImplItemFn,
    /// `#[deadline(…)]`, which the compiler does not know.
    pub(crate) deadlines: Vec<Attribute>,
}

const NO_BLOCK: &str = "a reaction is a block of functions, each from an event to what follows from it: write `pub struct LoanReminder;` and `#[reaction]` above `impl LoanReminder { … }`";

/// Reads the block, if it is one.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    let mut block = match syn::parse2::<ItemImpl>(input.clone()) {
        Ok(block) => block,
        Err(error) => {
            match syn::parse2::<Item>(input) {
                Ok(Item::Struct(item)) => errors.at(&item.ident, NO_BLOCK),
                Ok(Item::Fn(item)) => errors.at(&item.sig.ident, NO_BLOCK),
                Ok(Item::Enum(item)) => errors.at(&item.ident, NO_BLOCK),
                Ok(item) => errors.at(item.to_token_stream(), NO_BLOCK),
                Err(_) => errors.push(error),
            }
            return None;
        }
    };
    let is_es = |attr: &mut Attribute| attr.path().is_ident("es");
    let es = block.attrs.extract_if(.., is_es).collect();
    let mut functions = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(item) = item else { continue };
        let is_deadline = |attr: &mut Attribute| attr.path().is_ident("deadline");
        let deadlines = item.attrs.extract_if(.., is_deadline).collect();
        functions.push(Function {
            item: item.clone(),
            deadlines,
        });
    }
    Some(Declared {
        block,
        es,
        functions,
    })
}
