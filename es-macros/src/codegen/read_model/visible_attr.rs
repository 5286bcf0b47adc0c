//! Parses `#[visible(…)]` above a field: who sees it.

use syn::{Ident, Meta};

use crate::codegen::{
    attribute::{self, SeenKeys},
    caller_rules,
    errors::Errors,
    fields::Field,
    naming, types,
};

/// The callers who see a field.
pub(crate) struct Viewers {
    pub(crate) roles: Vec<String>,
    /// The index of the field with the owner id of those who see this one.
    pub(crate) owner: Option<usize>,
}

/// The value of the key `owner`.
enum OwnerKey {
    /// The field itself holds the owner id.
    Itself,
    Named(Ident),
}

const KEYS: [&str; 2] = ["role", "owner"];

/// Returns who sees the field at this index, or `None` if everybody does or the rule is not valid.
pub(crate) fn parse_viewers(
    index: usize,
    fields: &[Field],
    errors: &mut Errors,
) -> Option<Viewers> {
    let field = fields.get(index)?;
    let attr = attribute::named(&field.attrs, "visible").next()?;
    let mut keys = SeenKeys::new("visible", &KEYS);
    let (mut roles, mut owner) = (Vec::new(), None);
    keys.visit_keys(&field.attrs, errors, |key, meta, errors| {
        if key == "role" {
            let parsed = caller_rules::parse_roles(meta, "role = \"staff\"", errors);
            roles = caller_rules::check_names(&parsed, errors);
        } else {
            owner = parse_owner(meta, errors);
        }
    });
    if !KEYS.iter().any(|key| keys.contains(key)) {
        let message = "say who sees the field: write `#[visible(role = \"staff\")]`, or `#[visible(owner = reader)]` for those whose owner id is in the field `reader`";
        errors.record(attr, message);
        return None;
    }
    let owner = match owner {
        None => None,
        Some(OwnerKey::Itself) => Some(checked_owner(index, fields, errors)?),
        Some(OwnerKey::Named(name)) => {
            let named = fields.iter().position(|field| name == field.name());
            let Some(named) = named else {
                let names = fields.iter().map(Field::name);
                let message = naming::no_such_field("the read model", &name.to_string(), names);
                errors.record(&name, message);
                return None;
            };
            Some(checked_owner(named, fields, errors)?)
        }
    };
    Some(Viewers { roles, owner })
}

fn parse_owner(meta: &Meta, errors: &mut Errors) -> Option<OwnerKey> {
    if matches!(meta, Meta::Path(_)) {
        return Some(OwnerKey::Itself);
    }
    let name = attribute::parse_word(meta, "owner = reader", errors)?;
    Some(OwnerKey::Named(name.clone()))
}

/// Returns the index of the field with the owner id, unless its type shows that it holds none.
fn checked_owner(index: usize, fields: &[Field], errors: &mut Errors) -> Option<usize> {
    let ty = &fields.get(index)?.ty;
    let id = types::inside_option(ty).unwrap_or(ty);
    match types::last_word(id) {
        Some(word) if caller_rules::NO_OWNER_IDS.contains(&word.as_str()) => {
            let message = caller_rules::no_owner_id(&fields.get(index)?.name(), &word);
            errors.record(ty, message);
            None
        }
        _ => Some(index),
    }
}
