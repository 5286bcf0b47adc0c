//! `#[projection]` itself, which has no arguments, and `#[key(…)]` above its functions.

use proc_macro2::TokenStream;
use syn::{Attribute, Ident, Meta};

use crate::codegen::errors::Errors;

/// Notes arguments.
pub(crate) fn check(arguments: TokenStream, errors: &mut Errors) {
    if !arguments.is_empty() {
        let message = "`#[projection]` has no arguments: which events a row follows from is said by its functions, so write `#[projection]` alone";
        errors.at(arguments, message);
    }
}

/// The field of the event that is the key of its row.
pub(crate) fn key(attr: &Attribute, errors: &mut Errors) -> Option<Ident> {
    let field = match &attr.meta {
        Meta::List(list) => syn::parse2::<Ident>(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    if field.is_none() {
        let message =
            "name the field of the event that is the key of its row: write `#[key(book)]`";
        errors.at(attr, message);
    }
    field
}
