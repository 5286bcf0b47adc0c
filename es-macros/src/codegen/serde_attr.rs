//! Checks serde attributes against the choices that the derives make.

use syn::{Attribute, Meta};

use super::{
    attribute::{self, SeenKeys},
    declaration_kind::DeclarationKind,
    errors::Errors,
    serde_words::elements,
};

/// The keys that a field allows. The code below explains other keys in its messages.
const FIELD: [&str; 7] = [
    "rename",
    "alias",
    "default",
    "with",
    "serialize_with",
    "deserialize_with",
    "skip_serializing_if",
];

/// Returns the name from `#[serde(rename = "…")]`. Records an error for keys that a field does not
/// allow.
pub(crate) fn rename(
    attrs: &[Attribute],
    kind: DeclarationKind,
    errors: &mut Errors,
) -> Option<String> {
    let mut keys = SeenKeys::new("serde", &FIELD);
    let mut renamed = None;
    for meta in elements(attrs, errors) {
        match attribute::key_name(&meta).as_str() {
            // Only this key may occur several times.
            "alias" => {
                attribute::parse_text(&meta, "alias = \"…\"", errors);
            }
            key @ ("flatten" | "skip" | "skip_serializing" | "skip_deserializing") => {
                let message = format!(
                    "each field of {} is one member of its JSON, so `{key}` cannot stand here: remove it",
                    kind.noun()
                );
                errors.record(&meta, message);
            }
            _ => match (keys.recognize(&meta, errors), &meta) {
                (None, _) | (Some("default"), Meta::Path(_)) => {}
                (Some("rename"), _) => renamed = name(&meta, errors),
                // serde itself reports attributes that it does not support.
                (Some(key), _) => {
                    attribute::parse_text(&meta, &format!("{key} = \"…\""), errors);
                }
            },
        }
    }
    renamed
}

fn name(meta: &Meta, errors: &mut Errors) -> Option<String> {
    if let Meta::List(_) = meta {
        let message = "a member has one name, for reading and for writing: write `rename = \"…\"`";
        errors.record(meta, message);
        return None;
    }
    attribute::parse_text(meta, "rename = \"…\"", errors).map(|text| text.value())
}

/// Records an error for keys that the struct does not allow.
pub(crate) fn check_struct(attrs: &[Attribute], kind: DeclarationKind, errors: &mut Errors) {
    for meta in elements(attrs, errors) {
        let key = attribute::key_name(&meta);
        let message = match (key.as_str(), kind) {
            // The shadow type has no default; only the struct itself has one.
            ("default", _) => {
                "a default stands above the field that has it: write `#[serde(default)]` there"
                    .to_owned()
            }
            ("rename_all" | "rename_all_fields", _) => format!(
                "the members of {} are in camelCase: remove `{key}`, and rename a single field with `#[serde(rename = \"…\")]`",
                kind.noun()
            ),
            ("deny_unknown_fields", DeclarationKind::Command) => {
                "a command refuses unknown members by itself: remove `deny_unknown_fields`"
                    .to_owned()
            }
            ("deny_unknown_fields", DeclarationKind::Event) => {
                "an event is read for ever, also what later versions wrote: remove `deny_unknown_fields`".to_owned()
            }
            ("rename", DeclarationKind::Event) => {
                "an event is known by its type: write `#[event(name = \"…\")]`".to_owned()
            }
            ("rename", DeclarationKind::PublicEvent) => {
                "a public event is known by its type: write `#[public_event(name = \"…\")]`"
                    .to_owned()
            }
            _ => format!(
                "the JSON of {} is an object with one member for each field: remove `{key}`",
                kind.noun()
            ),
        };
        errors.record(&meta, message);
    }
}
