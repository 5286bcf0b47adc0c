//! Parses the struct of a command.

use syn::{Attribute, DeriveInput, Ident};

use super::attr::{self, CommandAttr};
use crate::codegen::{
    attribute,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
    serde_attr,
    validate::{self, Rule},
};

/// The parsed struct with its attributes.
pub(crate) struct CommandItem {
    pub(crate) ident: Ident,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) attr: CommandAttr,
    /// `None` if the item has no named fields. An error is recorded in that case.
    pub(crate) fields: Option<Vec<CommandField>>,
}

/// A field with its validation rules.
pub(crate) struct CommandField {
    pub(crate) field: Field,
    pub(crate) rules: Vec<Rule>,
}

/// Parses the item and all of its attributes.
pub(crate) fn parse_item(item: &DeriveInput, errors: &mut Errors) -> CommandItem {
    check_placement(&item.attrs, errors);
    serde_attr::check_struct(&item.attrs, DeclarationKind::Command, errors);
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, DeclarationKind::Command, errors);
    fields::check_placement(
        fields.as_deref().unwrap_or_default(),
        &["command", "event", "es"],
        errors,
    );
    let fields = fields.map(|fields| {
        let with_rules = |field: Field| CommandField {
            rules: validate::parse_rules(&field.attrs, errors),
            field,
        };
        fields.into_iter().map(with_rules).collect()
    });
    CommandItem {
        ident: item.ident.clone(),
        attrs: item.attrs.clone(),
        attr,
        fields,
    }
}

fn check_placement(attrs: &[Attribute], errors: &mut Errors) {
    let message = "`#[event(…)]` belongs to `#[derive(Event)]`: write `#[command(…)]` on a command";
    attribute::refuse(attrs, "event", message, errors);
    let message = "`#[validate(…)]` stands above the field whose value it is about";
    attribute::refuse(attrs, "validate", message, errors);
}
