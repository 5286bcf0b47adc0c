//! The passes of attribute macros on `impl` blocks: `#[evolve]`, `#[projection]` and `#[reaction]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, parse_quote};

use super::{annotated_item, errors::Errors, framework::Framework, manifest::Manifest, types};

/// A parsed block under an attribute macro.
pub(crate) struct AnnotatedImpl {
    /// The block without the attributes that the compiler does not know.
    pub(crate) block: ItemImpl,
    /// The `#[es(…)]` attributes above the block.
    es: Vec<Attribute>,
    pub(crate) functions: Vec<BlockFunction>,
}

/// A function of the block.
pub(crate) struct BlockFunction {
    pub(crate) item: ImplItemFn,
    /// The macro's own attributes above the function, which the compiler does not know.
    pub(crate) attributes: Vec<Attribute>,
}

/// The passes that differ between the macros. `T` is the block without mistakes.
pub(crate) struct BlockMacro<T> {
    /// The error message for another item than a block.
    pub(crate) no_block: &'static str,
    /// The names of the macro's own attributes above functions.
    pub(crate) attributes: &'static [&'static str],
    /// The names of the macro's own attributes of parameters.
    pub(crate) parameter_attributes: &'static [&'static str],
    /// Returns the block as it is compiled, and its generated code.
    pub(crate) expand: fn(&ItemImpl, &T, &Framework) -> TokenStream,
    /// Generates what stands beside a block with mistakes, so that the compiler reports only these.
    pub(crate) stub: fn(&ItemImpl, &Framework) -> TokenStream,
}

impl<T> BlockMacro<T> {
    /// Returns the block with its generated code, or compile errors with the item or a stub.
    pub(crate) fn expand_annotated(
        &self,
        input: TokenStream,
        manifest: &Manifest,
        mut errors: Errors,
        check: impl FnOnce(&AnnotatedImpl, &mut Errors) -> Option<T>,
    ) -> TokenStream {
        let Some(mut declared) = self.read(input.clone(), &mut errors) else {
            let errors = errors.into_compile_errors();
            return quote!(#errors #input);
        };
        let Some(framework) = Framework::resolve(&declared.es, manifest, &mut errors) else {
            let (errors, block) = (errors.into_compile_errors(), &declared.block);
            return quote!(#errors #block);
        };
        match check(&declared, &mut errors) {
            Some(checked) if errors.is_empty() => {
                (self.expand)(&declared.block, &checked, &framework)
            }
            _ => {
                let block = &mut declared.block;
                // Further warnings about a block with mistakes would only distract.
                block.attrs.push(parse_quote!(#[allow(unused)]));
                let has_generics = !block.generics.params.is_empty();
                let stub = (!has_generics).then(|| (self.stub)(block, &framework));
                let errors = errors.into_compile_errors();
                quote!(#errors #block #stub)
            }
        }
    }

    fn read(&self, input: TokenStream, errors: &mut Errors) -> Option<AnnotatedImpl> {
        let (mut block, es) = annotated_item::parse_annotated_item(
            input,
            |block: &mut ItemImpl| &mut block.attrs,
            self.no_block,
            errors,
        )?;
        let has_name =
            |attr: &Attribute, names: &[&str]| names.iter().any(|name| attr.path().is_ident(name));
        let mut functions = Vec::new();
        for item in &mut block.items {
            let ImplItem::Fn(item) = item else { continue };
            let is_own = |attr: &mut Attribute| has_name(attr, self.attributes);
            let attributes = item.attrs.extract_if(.., is_own).collect();
            types::ungroup_signature(&mut item.sig);
            let function = item.clone();
            for input in &mut item.sig.inputs {
                if let FnArg::Typed(parameter) = input {
                    let is_foreign = |attr: &Attribute| !has_name(attr, self.parameter_attributes);
                    parameter.attrs.retain(is_foreign);
                }
            }
            functions.push(BlockFunction {
                item: function,
                attributes,
            });
        }
        Some(AnnotatedImpl {
            block,
            es,
            functions,
        })
    }
}
