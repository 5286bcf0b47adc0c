//! What no function that the framework calls can be.

use syn::{Safety, Signature};

use super::errors::Errors;

/// Why a function cannot be it, in the words of what it is for.
pub(crate) struct Reasons {
    /// Nothing where the framework waits for the function.
    pub(crate) no_async: Option<&'static str>,
    pub(crate) no_unsafe: &'static str,
    pub(crate) no_extern: &'static str,
    pub(crate) no_generics: &'static str,
}

/// Notes each word of the signature that is one too many.
pub(crate) fn check(sig: &Signature, reasons: &Reasons, errors: &mut Errors) {
    if let (Some(asyncness), Some(message)) = (&sig.asyncness, reasons.no_async) {
        errors.at(asyncness, message);
    }
    if let Safety::Unsafe(safety) = &sig.safety {
        errors.at(safety, reasons.no_unsafe);
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, reasons.no_extern);
    }
    if !sig.generics.params.is_empty() {
        errors.at(&sig.generics, reasons.no_generics);
    } else if let Some(clause) = &sig.generics.where_clause {
        errors.at(clause, reasons.no_generics);
    }
}
