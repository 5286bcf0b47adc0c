//! Checks that all macros share for `impl` blocks.

use syn::{ImplItem, ItemImpl};

use super::errors::Errors;

/// The error messages for an `impl` block, in the words of the macro above it.
pub(crate) struct BlockMessages {
    pub(crate) no_trait: &'static str,
    pub(crate) no_generics: &'static str,
    /// `None` allows other items between the functions.
    pub(crate) functions_alone: Option<&'static str>,
}

/// Records an error for each part of the block that the macro does not support.
pub(crate) fn reject_unsupported_parts(
    block: &ItemImpl,
    reasons: &BlockMessages,
    errors: &mut Errors,
) {
    if let Some((path, _)) = &block.trait_ {
        errors.record(path, reasons.no_trait);
    }
    if !block.generics.params.is_empty() {
        errors.record(&block.generics, reasons.no_generics);
    }
    let Some(message) = reasons.functions_alone else {
        return;
    };
    for item in &block.items {
        if !matches!(item, ImplItem::Fn(_)) {
            errors.record(item, message);
        }
    }
}
