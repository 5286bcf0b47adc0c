//! Parses the declaration of a query.

use syn::{Attribute, DeriveInput, Ident};

use super::attr::{self, QueryAttr};
use crate::codegen::{
    attribute,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
};

/// The declaration of a query, as the developer wrote it.
pub(crate) struct QueryInput {
    pub(crate) ident: Ident,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) attr: QueryAttr,
    /// The fields, or `None` if the item has no named fields, which is reported.
    pub(crate) fields: Option<Vec<Field>>,
}

/// Reads the item and all of its attributes.
pub(crate) fn parse_item(item: &DeriveInput, errors: &mut Errors) -> QueryInput {
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, DeclarationKind::Query, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["query", "es"], errors);
    let message = "`#[filter(…)]` stands above a field of the query";
    attribute::refuse(&item.attrs, "filter", message, errors);
    QueryInput {
        ident: item.ident.clone(),
        attrs: item.attrs.clone(),
        attr,
        fields,
    }
}
