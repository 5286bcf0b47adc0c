//! `#[handler]` itself, which has no arguments.

use proc_macro2::TokenStream;

use crate::codegen::errors::Errors;

/// Notes arguments.
pub(crate) fn check(arguments: TokenStream, errors: &mut Errors) {
    if !arguments.is_empty() {
        let message = "`#[handler]` has no arguments: what it decides on is the function's parameter, so write `#[handler]` alone";
        errors.at(arguments, message);
    }
}
