//! Parses the `impl` blocks of `#[projection]` and `#[reaction]`.

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl};

use super::{annotated_item, errors::Errors, types};

/// A parsed block under an attribute macro.
pub(crate) struct AnnotatedImpl {
    /// The block without the attributes that the compiler does not know.
    pub(crate) block: ItemImpl,
    /// The `#[es(…)]` attributes above the block.
    pub(crate) es: Vec<Attribute>,
    pub(crate) functions: Vec<BlockFunction>,
}

/// A function of the block.
pub(crate) struct BlockFunction {
    pub(crate) item: ImplItemFn,
    /// The macro's own attributes above the function, which the compiler does not know.
    pub(crate) attributes: Vec<Attribute>,
}

impl AnnotatedImpl {
    /// Parses the block. `attributes` are the names of the macro's own attributes above functions, and
    /// `no_block` is the error message for another item.
    pub(crate) fn parse_block(
        input: TokenStream,
        attributes: &[&str],
        no_block: &str,
        errors: &mut Errors,
    ) -> Option<Self> {
        let (mut block, es) = annotated_item::parse_annotated_item(
            input,
            |block: &mut ItemImpl| &mut block.attrs,
            no_block,
            errors,
        )?;
        let mut functions = Vec::new();
        for item in &mut block.items {
            let ImplItem::Fn(item) = item else { continue };
            let is_own =
                |attr: &mut Attribute| attributes.iter().any(|name| attr.path().is_ident(name));
            let attributes = item.attrs.extract_if(.., is_own).collect();
            types::ungroup_signature(&mut item.sig);
            let function = item.clone();
            for input in &mut item.sig.inputs {
                if let FnArg::Typed(parameter) = input {
                    parameter
                        .attrs
                        .retain(|attr| !attr.path().is_ident("subject"));
                }
            }
            functions.push(BlockFunction {
                item: function,
                attributes,
            });
        }
        Some(Self {
            block,
            es,
            functions,
        })
    }
}
