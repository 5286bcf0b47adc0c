//! Items of any shape, structs and enums, that have JSON: what a state and a value have in common.

use std::collections::BTreeMap;

use syn::{
    Attribute, Data, DeriveInput, Field, Fields, GenericParam, Ident, Type, ext::IdentExt as _,
};

use super::{attribute, errors::Errors, naming};

/// The words of a message that depend on what is declared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Noun {
    /// With its article: `a state`.
    pub(crate) indefinite: &'static str,
    /// Whether keys of serde that change the shape of the JSON are welcome.
    pub(crate) is_sent: bool,
}

/// What may stand above a value: how the variant of an enum is told.
const SHAPES: [&str; 4] = ["tag", "content", "untagged", "transparent"];

/// Notes everything that stands against its having JSON.
pub(crate) fn check(item: &DeriveInput, noun: Noun, errors: &mut Errors) {
    check_generics(item, noun, errors);
    check_attrs(&item.attrs, noun, errors);
    match &item.data {
        Data::Struct(data) => check_fields(&data.fields, noun, errors),
        Data::Enum(data) => {
            if data.variants.is_empty() {
                let message = format!(
                    "{} without variants can never be: write at least one",
                    noun.indefinite
                );
                errors.at(&item.ident, message);
            }
            let mut names = Names::in_case(naming::lower_camel_case);
            for variant in &data.variants {
                names.check(&variant.ident, &variant.attrs, errors);
                check_fields(&variant.fields, noun, errors);
            }
        }
        Data::Union(data) => {
            let message = format!("{} is a struct or an enum, not a union", noun.indefinite);
            errors.at(data.union_token, message);
        }
    }
}

/// Whether it is an enum whose variants have no fields: a word on the wire.
pub(crate) fn is_word(item: &DeriveInput) -> bool {
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

fn check_generics(item: &DeriveInput, noun: Noun, errors: &mut Errors) {
    let is_lifetime = |param: &GenericParam| matches!(param, GenericParam::Lifetime(_));
    if item.generics.params.iter().any(is_lifetime) {
        let message = format!(
            "{} owns what it holds: remove the lifetime",
            noun.indefinite
        );
        errors.at(&item.generics, message);
    } else if !item.generics.params.is_empty() {
        let message = format!(
            "{} has no generic parameters: write the types out",
            noun.indefinite
        );
        errors.at(&item.generics, message);
    }
}

fn check_attrs(attrs: &[Attribute], noun: Noun, errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("serde")) {
        for meta in attribute::elements(attr, errors).unwrap_or_default() {
            let key = attribute::name(&meta);
            if noun.is_sent && SHAPES.contains(&key.as_str()) {
                continue;
            }
            let meant = naming::closest(&key, &SHAPES).filter(|_| noun.is_sent);
            let message = match key.as_str() {
                "default" => {
                    "a default stands above the field that has it: write `#[serde(default)]` there"
                        .to_owned()
                }
                "rename_all" | "rename_all_fields" => format!(
                    "the JSON of {} is in camelCase: remove `{key}`, and rename a single member with `#[serde(rename = \"…\")]`",
                    noun.indefinite
                ),
                _ => match meant {
                    Some(meant) => format!("serde knows no `{key}`: did you mean `{meant}`?"),
                    None => format!("`{key}` cannot stand above {}: remove it", noun.indefinite),
                },
            };
            errors.at(&meta, message);
        }
    }
}

fn check_fields(fields: &Fields, noun: Noun, errors: &mut Errors) {
    let mut names = Names::in_case(naming::camel_case);
    for Field {
        ident, ty, attrs, ..
    } in fields
    {
        if let Some(ident) = ident {
            names.check(ident, attrs, errors);
        }
        if let Type::Reference(reference) = ty {
            let message = format!(
                "{} owns what it holds: write `String` for a text, or another type without `&`",
                noun.indefinite
            );
            errors.at(reference, message);
        }
    }
}

/// The names in JSON of the fields of one struct, or of the variants of one enum.
struct Names<'a> {
    case: fn(&str) -> String,
    seen: BTreeMap<String, &'a Ident>,
}

impl<'a> Names<'a> {
    fn in_case(case: fn(&str) -> String) -> Self {
        let seen = BTreeMap::new();
        Self { case, seen }
    }

    /// Notes a name that is none, or is there already.
    fn check(&mut self, ident: &'a Ident, attrs: &[Attribute], errors: &mut Errors) {
        let name = ident.unraw().to_string();
        let name = match renamed(attrs) {
            Some(renamed) => renamed,
            // serde's camelCase panics on both.
            None if !name.is_ascii() || name.chars().all(|one| one == '_') => {
                let message = format!(
                    "`{name}` does not become a name in JSON by itself: write `#[serde(rename = \"…\")]` above it"
                );
                return errors.at(ident, message);
            }
            None => (self.case)(&name),
        };
        let message = |first| {
            format!("`{first}` and `{ident}` are both `{name}` in JSON: rename one of them")
        };
        let message = self.seen.get(&name).map(message);
        if let Some(message) = message {
            return errors.at(ident, message);
        }
        self.seen.insert(name, ident);
    }
}

/// The name that an attribute of serde gives. What serde does not understand it reports itself.
fn renamed(attrs: &[Attribute]) -> Option<String> {
    let metas = attrs
        .iter()
        .filter(|attr| attr.path().is_ident("serde"))
        .filter_map(|attr| attribute::elements(attr, &mut Errors::default()))
        .flatten();
    let mut texts = metas
        .filter(|meta| attribute::name(meta) == "rename")
        .filter_map(|meta| attribute::text(&meta, "", &mut Errors::default()));
    texts.next().map(|text| text.value())
}
