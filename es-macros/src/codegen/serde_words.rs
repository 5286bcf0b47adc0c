//! Reads the serde attributes that decide which JSON a field or a variant is read from.

use syn::{Attribute, Meta};

use super::{attribute, errors::Errors};

/// Returns the elements of all serde attributes.
pub(crate) fn elements(attrs: &[Attribute], errors: &mut Errors) -> Vec<Meta> {
    attribute::named(attrs, "serde")
        .flat_map(|attr| attribute::parse_elements(attr, errors))
        .collect()
}

/// Returns the keys and strings of serde attributes.
pub(crate) fn words(attrs: &[Attribute]) -> impl Iterator<Item = (String, Option<String>)> {
    let elements = elements(attrs, &mut Errors::default());
    elements.into_iter().map(|meta| {
        let text = attribute::parse_text(&meta, "", &mut Errors::default());
        (attribute::key_name(&meta), text.map(|text| text.value()))
    })
}

/// Returns true if one of the attributes has this key.
pub(crate) fn has_word(attrs: &[Attribute], key: &str) -> bool {
    words(attrs).any(|(other, _)| other == key)
}

/// Returns the name that an attribute gives.
pub(crate) fn renamed(attrs: &[Attribute]) -> Option<String> {
    words(attrs).find_map(|(key, text)| text.filter(|_| key == "rename"))
}

/// Returns the further names under which a request may have the value.
pub(crate) fn aliases(attrs: &[Attribute]) -> Vec<String> {
    let words = words(attrs);
    words
        .filter_map(|(key, text)| text.filter(|_| key == "alias"))
        .collect()
}

/// Returns true if a function reads the value, so that its JSON has any shape.
pub(crate) fn is_converted(attrs: &[Attribute]) -> bool {
    has_word(attrs, "with") || has_word(attrs, "deserialize_with")
}
