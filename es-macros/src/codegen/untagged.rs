//! Refuses untagged variants of which one is read in place of another.

use quote::ToTokens as _;
use syn::{Attribute, DataEnum, Field, Fields, Type, Variant, ext::IdentExt as _};

use super::{contents::Contents, errors::Errors, naming, serde_words, types};

const NUMBERS: [&str; 12] = [
    "f32", "f64", "i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128",
];
const TEXTS: [&str; 5] = ["String", "str", "Uuid", "Timestamp", "Date"];

/// Records an error for each variant that serde reads where a later one was written, as far as the syntax shows it. serde
/// takes the first variant whose members are there and ignores other members, so that these would be lost.
pub(crate) fn check_order(data: &DataEnum, attrs: &[Attribute], errors: &mut Errors) {
    let is_untagged = |attrs: &[Attribute]| serde_words::has_word(attrs, "untagged");
    let variants = data.variants.iter();
    let mut rest = variants.filter(|variant| is_untagged(attrs) || is_untagged(&variant.attrs));
    while let Some(variant) = rest.next() {
        if let Some(hidden) = rest.clone().find(|later| hides(variant, later)) {
            let (first, last) = (&variant.ident, &hidden.ident);
            let remedy = if hides(hidden, variant) {
                "name the variant in the JSON with `#[serde(tag = \"…\")]`".to_owned()
            } else {
                format!("write `{last}` before `{first}`")
            };
            let message = format!(
                "`{first}` is read wherever `{last}` is sent, because an untagged enum is the first variant whose members are there: {remedy}"
            );
            errors.record(first, message);
        }
    }
}

/// Returns true if JSON of the later variant is also read as the earlier one, which lacks a member of it.
fn hides(earlier: &Variant, later: &Variant) -> bool {
    let (Some(members), Some(others)) = (members(earlier), members(later)) else {
        return false;
    };
    let is_read = |member: &Member<'_>| match others.iter().find(|other| other.is(member)) {
        Some(other) => kind(member.ty) == kind(other.ty),
        None => !member.is_required,
    };
    let is_lost = |other: &Member<'_>| !members.iter().any(|member| member.is(other));
    members.iter().all(is_read) && others.iter().any(is_lost)
}

/// A member of a variant's object.
struct Member<'a> {
    names: Vec<String>,
    ty: &'a Type,
    is_required: bool,
}

impl Member<'_> {
    fn is(&self, other: &Self) -> bool {
        self.names.iter().any(|name| other.names.contains(name))
    }
}

/// Returns the members, or nothing if the declaration of the variant does not tell them all.
fn members(variant: &Variant) -> Option<Vec<Member<'_>>> {
    if !matches!(variant.fields, Fields::Named(_)) || serde_words::is_converted(&variant.attrs) {
        return None;
    }
    variant.fields.iter().map(member).collect()
}

fn member(field: &Field) -> Option<Member<'_>> {
    let attrs = &field.attrs;
    if serde_words::has_word(attrs, "flatten") || serde_words::is_converted(attrs) {
        return None;
    }
    let ident = field.ident.as_ref()?.unraw().to_string();
    let name = serde_words::renamed(attrs).unwrap_or_else(|| naming::camel_case(&ident));
    let optional = types::inside_option(&field.ty);
    Some(Member {
        names: [name]
            .into_iter()
            .chain(serde_words::aliases(attrs))
            .collect(),
        ty: optional.unwrap_or(&field.ty),
        is_required: optional.is_none() && !serde_words::has_word(attrs, "default"),
    })
}

/// Returns the kind of a type's JSON.
fn kind(ty: &Type) -> String {
    let name = types::last_word(ty).unwrap_or_default();
    match Contents::of(ty) {
        Contents::Pointer(inner) => kind(inner),
        _ if NUMBERS.contains(&name.as_str()) => "number".to_owned(),
        _ if TEXTS.contains(&name.as_str()) => "text".to_owned(),
        _ => ty.to_token_stream().to_string(),
    }
}
