//! `#[key(…)]` and `#[each(…)]` above the functions of a projection.

use syn::{Attribute, Ident, Meta};

use crate::codegen::errors::Errors;

/// The attributes above one function.
#[derive(Default)]
pub(crate) struct StepAttributes {
    /// The field of the event, or of the element, that is the key of its row.
    pub(crate) key: Option<Ident>,
    /// The field of the event with a list of elements, each of which changes a row.
    pub(crate) list: Option<Ident>,
}

/// Parses the attributes above one function.
pub(crate) fn parse_step_attributes(attrs: &[Attribute], errors: &mut Errors) -> StepAttributes {
    let mut parse = |name: &str, example: &str, twice: &str| {
        let mut own = attrs.iter().filter(|attr| attr.path().is_ident(name));
        let first = own.next()?;
        if let Some(second) = own.next() {
            errors.record(second, twice);
        }
        parse_field(first, example, errors)
    };
    StepAttributes {
        key: parse(
            "key",
            "name the field of the event that is the key of its row: write `#[key(book)]`",
            "a row has one key: remove this `#[key(…)]`",
        ),
        list: parse(
            "each",
            "name the field of the event with the list: write `#[each(books)]`",
            "a function takes the elements of one list: remove this `#[each(…)]`",
        ),
    }
}

/// Parses the name of a field.
fn parse_field(attr: &Attribute, message: &str, errors: &mut Errors) -> Option<Ident> {
    let field = match &attr.meta {
        Meta::List(list) => syn::parse2::<Ident>(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    if field.is_none() {
        errors.record(attr, message);
    }
    field
}
