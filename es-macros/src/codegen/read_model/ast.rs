//! Parses the declaration of a read model.

use syn::{DeriveInput, Ident, Meta};

use super::attr::{self, ReadModelAttr};
use crate::codegen::{
    attribute,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
    serde_attr,
};

/// The declaration of a read model, as the developer wrote it.
pub(crate) struct ReadModelInput {
    pub(crate) ident: Ident,
    pub(crate) attr: ReadModelAttr,
    /// The fields, or `None` if the item has no named fields, which is reported.
    pub(crate) fields: Option<Vec<Field>>,
}

/// The messages for attributes of fields above the struct.
const ABOVE_FIELDS: [(&str, &str); 4] = [
    (
        "key",
        "`#[key]` stands above each field that tells the rows apart",
    ),
    (
        "index",
        "`#[index]` stands above the field that rows are found by",
    ),
    (
        "search",
        "`#[search]` stands above the field that is searched",
    ),
    (
        "visible",
        "`#[visible(…)]` stands above the field that only some callers see; `role` of a query says who may send it",
    ),
];

/// The messages for attributes with arguments that have none.
const ALONE: [(&str, &str); 2] = [
    (
        "index",
        "rows are found by this field: write `#[index]` alone",
    ),
    (
        "key",
        "the key of a row is this field: write `#[key]` alone",
    ),
];

/// Reads the item and all of its attributes.
pub(crate) fn parse_item(item: &DeriveInput, errors: &mut Errors) -> ReadModelInput {
    serde_attr::check_struct(&item.attrs, DeclarationKind::ReadModel, errors);
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, DeclarationKind::ReadModel, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["read_model", "es"], errors);
    for (name, message) in ABOVE_FIELDS {
        attribute::refuse(&item.attrs, name, message, errors);
    }
    for attrs in known.iter().map(|field| &field.attrs) {
        for (name, message) in ALONE {
            let attrs = attrs.iter();
            let with_arguments = attrs.filter(|attr| !matches!(attr.meta, Meta::Path(_)));
            attribute::refuse(with_arguments, name, message, errors);
        }
    }
    ReadModelInput {
        ident: item.ident.clone(),
        attr,
        fields,
    }
}
