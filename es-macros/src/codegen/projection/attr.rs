//! `#[key(…)]` above the functions of a projection.

use syn::{Attribute, Ident, Meta};

use crate::codegen::errors::Errors;

/// Parses the field of the event that is the key of its row.
pub(crate) fn parse_key_attribute(attr: &Attribute, errors: &mut Errors) -> Option<Ident> {
    let field = match &attr.meta {
        Meta::List(list) => syn::parse2::<Ident>(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    if field.is_none() {
        let message =
            "name the field of the event that is the key of its row: write `#[key(book)]`";
        errors.record(attr, message);
    }
    field
}
