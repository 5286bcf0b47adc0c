//! Refuses declarations whose JSON is not read back as the same value.

use syn::{Attribute, Meta, Type};

use super::{attribute, contents::Contents, errors::Errors, serde_words, types};

/// Records an error for a field whose JSON loses a value. `attrs` may contain attributes that serde refuses.
pub(crate) fn check_field(attrs: &[Attribute], ty: &Type, errors: &mut Errors) {
    let metas: Vec<Meta> = serde_words::elements(attrs, &mut Errors::default());
    let find = |key: &str| metas.iter().find(|meta| attribute::key_name(meta) == key);
    let is_read_by_function = find("with").or(find("deserialize_with")).is_some();
    // serde reads a missing `Option` as `None`, unless a function reads the field.
    let may_be_missing = types::inside_option(ty).is_some() && !is_read_by_function;
    if let Some(skip) = find("skip_serializing_if")
        && find("default").is_none()
        && !may_be_missing
    {
        let message = "a member that is not always written is missing when it is read: write `default` beside `skip_serializing_if`";
        errors.record(skip, message);
    }
    if !is_read_by_function && let Some(outer) = option_of_option(ty) {
        let message = "`Some(None)` and `None` are both `null` in JSON: write one `Option`, or an enum with a variant for each case";
        errors.record(outer, message);
    }
}

/// Records an error for attributes that leave a field out of the JSON.
pub(crate) fn check_is_stored(attrs: &[Attribute], errors: &mut Errors) {
    for meta in serde_words::elements(attrs, &mut Errors::default()) {
        let key = attribute::key_name(&meta);
        if ["skip", "skip_serializing", "skip_deserializing"].contains(&key.as_str()) {
            let message = format!(
                "what is left out of the JSON is lost once the value is stored, so `{key}` cannot stand here: remove it"
            );
            errors.record(&meta, message);
        }
    }
}

/// Returns the `Option` of an `Option` inside a type.
fn option_of_option(ty: &Type) -> Option<&Type> {
    if types::inside_option(ty).is_some_and(|inside| types::inside_option(inside).is_some()) {
        return Some(ty);
    }
    Contents::of(ty)
        .types()
        .into_iter()
        .find_map(option_of_option)
}
