//! A projection as it was written.

use proc_macro2::TokenStream;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl};

use crate::codegen::{attributed, errors::Errors, types};

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
    /// `#[key(…)]`, which the compiler does not know.
    pub(crate) keys: Vec<Attribute>,
}

/// Reads the block, if it is one.
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
        let is_key = |attr: &mut Attribute| attr.path().is_ident("key");
        let keys = item.attrs.extract_if(.., is_key).collect();
        types::ungroup_signature(&mut item.sig);
        functions.push(Function {
            item: item.clone(),
            keys,
        });
    }
    Some(Declared {
        block,
        es,
        functions,
    })
}

const NO_BLOCK: &str = "a projection is a block of functions, one for each event: write `#[projection]` above `impl BookCopy { … }`";
