//! Parses the struct of an event.

use syn::{Attribute, DeriveInput, Ident};

use super::attr::{self, EventAttr};
use crate::codegen::{
    attribute,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
    serde_attr,
};

/// The parsed struct with its attributes.
pub(crate) struct EventItem {
    pub(crate) ident: Ident,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) attr: EventAttr,
    /// `None` if the item has no named fields. An error is recorded in that case.
    pub(crate) fields: Option<Vec<Field>>,
}

/// Parses the item and all of its attributes.
pub(crate) fn parse_item(item: &DeriveInput, errors: &mut Errors) -> EventItem {
    let message =
        "`#[command(…)]` belongs to `#[derive(Command)]`: write `#[event(…)]` on an event";
    attribute::refuse(&item.attrs, "command", message, errors);
    serde_attr::check_struct(&item.attrs, DeclarationKind::Event, errors);
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, DeclarationKind::Event, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["command", "event", "es"], errors);
    let on_fields = known.iter().flat_map(|field| &field.attrs);
    let attrs = item.attrs.iter().chain(on_fields);
    let message =
        "an event has happened and is not validated: put the rule on the command that leads to it";
    attribute::refuse(attrs, "validate", message, errors);
    EventItem {
        ident: item.ident.clone(),
        attrs: item.attrs.clone(),
        attr,
        fields,
    }
}
