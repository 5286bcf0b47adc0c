//! What no block of functions can be that a macro reads.

use syn::{ImplItem, ItemImpl};

use super::errors::Errors;

/// Why a block cannot be it, in the words of what it is for.
pub(crate) struct Reasons {
    pub(crate) no_trait: &'static str,
    pub(crate) no_generics: &'static str,
    /// Nothing where other items may stand between the functions.
    pub(crate) functions_alone: Option<&'static str>,
}

/// Notes each part of the block that is one too many.
pub(crate) fn check(block: &ItemImpl, reasons: &Reasons, errors: &mut Errors) {
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, reasons.no_trait);
    }
    if !block.generics.params.is_empty() {
        errors.at(&block.generics, reasons.no_generics);
    }
    let Some(message) = reasons.functions_alone else {
        return;
    };
    for item in &block.items {
        if !matches!(item, ImplItem::Fn(_)) {
            errors.at(item, message);
        }
    }
}
