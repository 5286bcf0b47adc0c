//! Checks of the signatures of functions. All macros share them.

use syn::{Safety, Signature};

use super::errors::Errors;

/// The error messages for a signature, in the words of its macro.
pub(crate) struct SignatureMessages {
    /// `None` allows asynchronous functions.
    pub(crate) no_async: Option<&'static str>,
    pub(crate) no_unsafe: &'static str,
    pub(crate) no_extern: &'static str,
    pub(crate) no_generics: &'static str,
}

/// Records an error for each part of the signature that the macro does not support.
pub(crate) fn reject_unsupported_parts(
    sig: &Signature,
    reasons: &SignatureMessages,
    errors: &mut Errors,
) {
    if let (Some(asyncness), Some(message)) = (&sig.asyncness, reasons.no_async) {
        errors.record(asyncness, message);
    }
    if let Safety::Unsafe(safety) = &sig.safety {
        errors.record(safety, reasons.no_unsafe);
    }
    if let Some(abi) = &sig.abi {
        errors.record(abi, reasons.no_extern);
    }
    if !sig.generics.params.is_empty() {
        errors.record(&sig.generics, reasons.no_generics);
    } else if let Some(clause) = &sig.generics.where_clause {
        errors.record(clause, reasons.no_generics);
    }
}
