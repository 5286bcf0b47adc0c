//! `#[upcast]` itself, which has no arguments.

use proc_macro2::TokenStream;

use crate::codegen::errors::Errors;

/// Notes arguments.
pub(crate) fn check(arguments: TokenStream, errors: &mut Errors) {
    if !arguments.is_empty() {
        let message = "`#[upcast]` has no arguments: the function's parameter is the old event and what it returns are the new ones, so write `#[upcast]` alone";
        errors.at(arguments, message);
    }
}
