//! Checks a parsed public event and derives its type.

use syn::{DeriveInput, Ident, LitInt};

use super::attr;
use crate::codegen::{
    attribute,
    declaration_kind::DeclarationKind,
    errors::Errors,
    event::event_type::{EventType, TypeKeys},
    fields,
    manifest::Manifest,
    serde_attr,
};

/// A public event without mistakes.
pub(super) struct CheckedPublicEvent {
    pub(super) ident: Ident,
    pub(super) event_type: EventType,
}

/// The attributes that do not belong to a public event, with the messages about them.
const REFUSED: [(&str, &str); 3] = [
    (
        "event",
        "`#[event(…)]` belongs to `#[derive(Event)]`: write `#[public_event(…)]` on a public event",
    ),
    (
        "validate",
        "a public event has happened and is not validated: remove the rule",
    ),
    (
        "personal",
        "a public event cannot be erased where it has arrived: remove `#[personal(…)]`, and let `#[publish(personal(…))]` say which personal values of the stored event leave",
    ),
];

/// Runs all checks, so that one compilation reports all mistakes.
pub(super) fn check_public_event(
    item: &DeriveInput,
    manifest: &Manifest,
    errors: &mut Errors,
) -> Option<CheckedPublicEvent> {
    let kind = DeclarationKind::PublicEvent;
    serde_attr::check_struct(&item.attrs, kind, errors);
    let attr = attr::parse_attributes(&item.attrs, errors);
    let fields = fields::parse_fields(item, kind, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["public_event", "es"], errors);
    let on_fields = known.iter().flat_map(|field| &field.attrs);
    for (name, message) in REFUSED {
        let attrs = item.attrs.iter().chain(on_fields.clone());
        attribute::refuse(attrs, name, message, errors);
    }
    let suffix = format!(".v{}", version(attr.version.as_ref(), errors));
    let keys = TypeKeys {
        attribute: "public_event",
        package: attr.package.as_ref(),
        has_package: attr.has_package,
        name: attr.name.as_ref(),
    };
    let event_type = keys.build_type(&item.ident, &suffix, manifest, errors);
    fields?;
    Some(CheckedPublicEvent {
        ident: item.ident.clone(),
        event_type: event_type?,
    })
}

/// Returns the version, which is part of each type. The first one is 1.
fn version(version: Option<&LitInt>, errors: &mut Errors) -> u32 {
    let number = version.map_or(Ok(1), LitInt::base10_parse::<u32>);
    match number {
        Ok(number @ 1..) => number,
        _ => {
            let message = "a version is a small whole number, and the first one is 1: write `version = 2` for the one after it";
            errors.record(version, message);
            1
        }
    }
}
