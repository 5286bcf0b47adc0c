//! Parses `#[search]` above a field.

use syn::Meta;

use crate::codegen::{attribute, errors::Errors, fields::Field, naming};

/// The form of the texts that searches compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SearchForm {
    Folded,
    Alphanumeric,
}

const FORMS: [&str; 1] = ["alphanumeric"];

/// Returns the form that the attributes of a field declare, or `None` if there is no valid one.
pub(crate) fn parse_form(field: &Field, errors: &mut Errors) -> Option<SearchForm> {
    let mut attrs = attribute::named(&field.attrs, "search");
    let first = attrs.next()?;
    for other in attrs {
        errors.record(
            other,
            "a field is searched in one form: remove this attribute",
        );
    }
    let (elements, is_whole) = attribute::parse_readable_elements(first, errors);
    match elements.as_slice() {
        _ if !is_whole => None,
        [] => Some(SearchForm::Folded),
        [Meta::Path(path)] if path.is_ident("alphanumeric") => Some(SearchForm::Alphanumeric),
        [meta @ Meta::Path(_)] => {
            let name = attribute::key_name(meta);
            let meant = naming::known_names_hint(&name, &FORMS, "form");
            errors.record(meta, format!("`{name}` is no form of a text: {meant}"));
            None
        }
        _ => {
            let message =
                "write `#[search]`, or `#[search(alphanumeric)]` for letters and digits alone";
            errors.record(first, message);
            None
        }
    }
}
