//! Parses the struct of an event.

use syn::{Attribute, DeriveInput, Ident};

use super::attr::{self, EventAttr};
use crate::codegen::{
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
    for attr in &item.attrs {
        if attr.path().is_ident("command") {
            let message =
                "`#[command(…)]` belongs to `#[derive(Command)]`: write `#[event(…)]` on an event";
            errors.record(attr, message);
        }
    }
    serde_attr::check_struct(&item.attrs, DeclarationKind::Event, errors);
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, DeclarationKind::Event, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["command", "event", "es"], errors);
    let on_fields = known.iter().flat_map(|field| &field.attrs);
    for attr in item.attrs.iter().chain(on_fields) {
        if attr.path().is_ident("validate") {
            let message = "an event has happened and is not validated: put the rule on the command that leads to it";
            errors.record(attr, message);
        }
    }
    EventItem {
        ident: item.ident.clone(),
        attrs: item.attrs.clone(),
        attr,
        fields,
    }
}
