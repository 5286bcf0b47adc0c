//! Checks of structs and enums with JSON, which states and values share.

use syn::{Attribute, Data, DeriveInput, Field, Fields, GenericParam, Generics, Meta, Type};

use super::{
    attribute, declaration_kind::DeclarationKind, errors::Errors, generics, json_names::JsonNames,
    naming, round_trip, serde_words, untagged,
};

/// The serde attributes that may stand above a value: those that change the shape of its JSON.
const SHAPES: [&str; 4] = ["tag", "content", "untagged", "transparent"];

/// Records an error for everything that prevents the generated code from giving the item JSON.
pub(crate) fn check_json_support(item: &DeriveInput, kind: DeclarationKind, errors: &mut Errors) {
    check_generics(&item.generics, kind, errors);
    check_attrs(&item.attrs, kind, errors);
    match &item.data {
        Data::Struct(data) => check_fields(&data.fields, kind, errors),
        Data::Enum(data) => {
            if data.variants.is_empty() {
                let message = format!(
                    "{} without variants can never be: write at least one",
                    kind.noun()
                );
                errors.record(&item.ident, message);
            }
            let mut members = JsonNames::in_case(naming::lower_camel_case);
            untagged::check_order(data, &item.attrs, errors);
            for variant in &data.variants {
                members.assign_name(&variant.ident, serde_words::renamed(&variant.attrs), errors);
                if kind == DeclarationKind::Value {
                    round_trip::check_is_stored(&variant.attrs, errors);
                    check_names(&variant.attrs, errors);
                }
                check_fields(&variant.fields, kind, errors);
            }
        }
        Data::Union(data) => {
            let message = format!("{} is a struct or an enum, not a union", kind.noun());
            errors.record(data.union_token, message);
        }
    }
}

/// Returns true for an enum without serde attributes whose variants have no fields. Its JSON is a string.
pub(crate) fn is_enum_of_plain_words(item: &DeriveInput) -> bool {
    let Data::Enum(data) = &item.data else {
        return false;
    };
    let is_bare = |attr: &Attribute| !attr.path().is_ident("serde");
    item.attrs.iter().all(is_bare)
        && data
            .variants
            .iter()
            .all(|variant| matches!(variant.fields, Fields::Unit))
}

fn check_generics(generics: &Generics, kind: DeclarationKind, errors: &mut Errors) {
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    let message = if generics.params.iter().any(is_lifetime) {
        format!("{} owns what it holds: remove the lifetime", kind.noun())
    } else {
        format!(
            "{} has no generic parameters: write the types out",
            kind.noun()
        )
    };
    generics::reject_generics(generics, &message, errors);
}

fn check_attrs(attrs: &[Attribute], kind: DeclarationKind, errors: &mut Errors) {
    for meta in serde_words::elements(attrs, errors) {
        let key = attribute::key_name(&meta);
        if kind == DeclarationKind::Value && SHAPES.contains(&key.as_str()) {
            continue;
        }
        let meant = naming::closest(&key, &SHAPES).filter(|_| kind == DeclarationKind::Value);
        let message = match key.as_str() {
            "default" => {
                "a default stands above the field that has it: write `#[serde(default)]` there"
                    .to_owned()
            }
            "rename_all" | "rename_all_fields" => format!(
                "the JSON of {} is in camelCase: remove `{key}`, and rename a single member with `#[serde(rename = \"…\")]`",
                kind.noun()
            ),
            _ => match meant {
                Some(meant) => format!("serde knows no `{key}`: did you mean `{meant}`?"),
                None => format!("`{key}` cannot stand above {}: remove it", kind.noun()),
            },
        };
        errors.record(&meta, message);
    }
}

fn check_fields(fields: &Fields, kind: DeclarationKind, errors: &mut Errors) {
    let mut members = JsonNames::in_case(naming::camel_case);
    for Field {
        ident, ty, attrs, ..
    } in fields
    {
        if let Some(ident) = ident {
            members.assign_name(ident, serde_words::renamed(attrs), errors);
        }
        round_trip::check_field(attrs, ty, errors);
        if kind == DeclarationKind::Value {
            round_trip::check_is_stored(attrs, errors);
            check_names(attrs, errors);
        }
        if let Type::Reference(reference) = ty {
            let message = format!(
                "{} owns what it holds: write `String` for a text, or another type without `&`",
                kind.noun()
            );
            errors.record(reference, message);
        }
    }
}

/// Records an error for attributes of a field or a variant that give other names for reading than for writing, or
/// names that do not follow from the declaration.
fn check_names(attrs: &[Attribute], errors: &mut Errors) {
    for meta in serde_words::elements(attrs, &mut Errors::default()) {
        match (attribute::key_name(&meta).as_str(), &meta) {
            ("rename", Meta::List(_)) => errors.record(
                &meta,
                "a member has one name, for reading and for writing: write `rename = \"…\"`",
            ),
            ("rename_all", _) => errors.record(
                &meta,
                "the JSON of a value is in camelCase: remove `rename_all`, and rename a single member with `#[serde(rename = \"…\")]`",
            ),
            _ => {}
        }
    }
}
