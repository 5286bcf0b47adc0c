//! Finds the types inside fields that may have no JSON.

use syn::{Attribute, Type};

use super::{contents::Contents, personal, serde_words};

/// Types with JSON. A type of an application with such a name costs it only the short message.
const KNOWN: [&str; 20] = [
    "String",
    // Behind a pointer.
    "str",
    "bool",
    "char",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "Uuid",
    "Timestamp",
    "Date",
];

/// The serde words with which a function takes the place of the type's JSON.
const REPLACED: [&str; 7] = [
    "with",
    "serialize_with",
    "deserialize_with",
    "skip",
    "skip_serializing",
    "skip_deserializing",
    "getter",
];

/// Returns the types inside the fields, without the containers that the syntax shows, and without types that surely
/// have JSON.
pub(crate) fn unknown_types<'a>(
    fields: impl Iterator<Item = (&'a Type, &'a [Attribute])>,
) -> Vec<&'a Type> {
    let mut unknown = vec![];
    for (ty, attrs) in fields {
        let is_replaced = REPLACED
            .iter()
            .any(|word| serde_words::has_word(attrs, word));
        if !is_replaced && !personal::is_personal(attrs) {
            add_unknown(ty, &mut unknown);
        }
    }
    unknown
}

fn add_unknown<'a>(ty: &'a Type, unknown: &mut Vec<&'a Type>) {
    match Contents::of(ty) {
        Contents::Value(_) if is_known(ty) => {}
        Contents::Value(_) | Contents::Result(..) => unknown.push(ty),
        contents => contents
            .types()
            .into_iter()
            .for_each(|inner| add_unknown(inner, unknown)),
    }
}

fn is_known(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => {
            let name = path.path.get_ident();
            name.is_some_and(|name| KNOWN.iter().any(|known| name == known))
        }
        // Another check reports a reference.
        _ => true,
    }
}
