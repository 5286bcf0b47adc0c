//! Parses the `impl` block of a reaction.

use proc_macro2::TokenStream;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl};

use crate::codegen::{attributed, errors::Errors, types};

/// The parsed block.
pub(crate) struct Declared {
    /// The block without the attributes that the compiler does not know.
    pub(crate) block: ItemImpl,
    /// The `#[es(…)]` attributes above the block.
    pub(crate) es: Vec<Attribute>,
    pub(crate) functions: Vec<Function>,
}

/// A function of the block.
pub(crate) struct Function {
    pub(crate) item: ImplItemFn,
    /// The `#[deadline(…)]` attributes, which the compiler does not know.
    pub(crate) deadlines: Vec<Attribute>,
}

const NO_BLOCK: &str = "a reaction is a block of functions, each from an event to what follows from it: write `pub struct LoanReminder;` and `#[reaction]` above `impl LoanReminder { … }`";

/// Parses the block.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    let (mut block, es) = attributed::read(
        input,
        |block: &mut ItemImpl| &mut block.attrs,
        NO_BLOCK,
        errors,
    )?;
    let mut functions = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(item) = item else { continue };
        let is_deadline = |attr: &mut Attribute| attr.path().is_ident("deadline");
        let deadlines = item.attrs.extract_if(.., is_deadline).collect();
        types::ungroup_signature(&mut item.sig);
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
