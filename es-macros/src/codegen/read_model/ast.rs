//! Parses the declaration of a read model.

use syn::{Attribute, DeriveInput, Ident, Meta};

use super::{
    attr::{self, ReadModelAttr},
    search_attr::is_search,
    visible_attr::is_visible,
};
use crate::codegen::{
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

/// Reads the item and all of its attributes.
pub(crate) fn parse_item(item: &DeriveInput, errors: &mut Errors) -> ReadModelInput {
    serde_attr::check_struct(&item.attrs, DeclarationKind::ReadModel, errors);
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, DeclarationKind::ReadModel, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["read_model", "es"], errors);
    for attr in item.attrs.iter().filter(|attr| is_key(attr)) {
        errors.record(
            attr,
            "`#[key]` stands above each field that tells the rows apart",
        );
    }
    for attr in item.attrs.iter().filter(|attr| is_index(attr)) {
        errors.record(
            attr,
            "`#[index]` stands above the field that rows are found by",
        );
    }
    for attr in item.attrs.iter().filter(|attr| is_search(attr)) {
        errors.record(attr, "`#[search]` stands above the field that is searched");
    }
    for attr in item.attrs.iter().filter(|attr| is_visible(attr)) {
        let message = "`#[visible(…)]` stands above the field that only some callers see; `role` of a query says who may send it";
        errors.record(attr, message);
    }
    for attr in known.iter().flat_map(|field| &field.attrs) {
        if is_index(attr) && !matches!(attr.meta, Meta::Path(_)) {
            errors.record(attr, "rows are found by this field: write `#[index]` alone");
        }
        if is_key(attr) && !matches!(attr.meta, Meta::Path(_)) {
            errors.record(attr, "the key of a row is this field: write `#[key]` alone");
        }
    }
    ReadModelInput {
        ident: item.ident.clone(),
        attr,
        fields,
    }
}

/// Returns true for `#[key]`.
pub(crate) fn is_key(attr: &Attribute) -> bool {
    attr.path().is_ident("key")
}

/// Returns true for `#[index]`.
pub(crate) fn is_index(attr: &Attribute) -> bool {
    attr.path().is_ident("index")
}
