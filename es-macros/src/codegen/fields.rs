//! The fields of a declared struct and their names on the wire.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::{
    Attribute, Data, DataStruct, DeriveInput, Fields, GenericArgument, Ident, PathArguments, Type,
    ext::IdentExt as _, spanned::Spanned as _,
};

use super::{errors::Errors, framework::Framework, naming, serde_attr, types};

/// What is declared: the words of a message that depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Command,
    Event,
    ReadModel,
    Query,
}

impl Kind {
    /// With its article: `a command`.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Command => "a command",
            Self::Event => "an event",
            Self::ReadModel => "a read model",
            Self::Query => "a query",
        }
    }
}

/// A named field.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The member's name in the JSON.
    pub(crate) member: String,
    pub(crate) attrs: Vec<Attribute>,
}

impl Field {
    /// The name as it is spoken of: without `r#`.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// The last word of the type: `Option` for `std::option::Option<String>`.
    pub(crate) fn type_name(&self) -> Option<String> {
        types::last_word(&self.ty)
    }

    /// The type of one value: `String` for `Option<String>` and `Vec<String>`.
    pub(crate) fn value_type(&self) -> &Type {
        let Type::Path(path) = &self.ty else {
            return &self.ty;
        };
        let of_many = path
            .path
            .segments
            .last()
            .filter(|segment| segment.ident == "Option" || segment.ident == "Vec");
        match of_many.map(|segment| &segment.arguments) {
            Some(PathArguments::AngleBracketed(arguments)) => match arguments.args.first() {
                Some(GenericArgument::Type(ty)) => ty,
                _ => &self.ty,
            },
            _ => &self.ty,
        }
    }
}

/// A field as a part of a subject. All of it is at the field's type, where one that cannot stand
/// in a subject is reported.
pub(crate) fn subject_part(field: &Field, framework: &Framework) -> TokenStream {
    let span = field.ty.span();
    let framework = framework.at(span);
    let (member, value) = (&field.member, reference(field));
    quote_spanned!(span=> #framework::event::SubjectPart::field(#member, #value))
}

/// A reference to a field, underlined at its type.
pub(crate) fn reference(field: &Field) -> TokenStream {
    let mut ident = field.ident.clone();
    ident.set_span(field.ty.span());
    quote_spanned!(field.ty.span()=> &self.#ident)
}

/// The fields, if the item is a struct that has named ones.
pub(crate) fn read(item: &DeriveInput, kind: Kind, errors: &mut Errors) -> Option<Vec<Field>> {
    check_generics(item, kind, errors);
    let DataStruct { fields, .. } = data_struct(item, kind, errors)?;
    let fields = match fields {
        Fields::Named(fields) => fields,
        Fields::Unnamed(unnamed) => {
            let message = format!(
                "{} has named fields, since they are the members of its JSON: write `struct {} {{ name: Type }}`",
                kind.noun(),
                item.ident
            );
            errors.at(unnamed, message);
            return None;
        }
        Fields::Unit => {
            let message = format!(
                "{} is a JSON object: write `struct {} {{}}`",
                kind.noun(),
                item.ident
            );
            errors.at(&item.ident, message);
            return None;
        }
    };
    let fields: Vec<_> = fields
        .named
        .iter()
        .filter_map(|field| read_field(field, kind, errors))
        .collect();
    check_members(&fields, errors);
    Some(fields)
}

fn check_generics(item: &DeriveInput, kind: Kind, errors: &mut Errors) {
    let message = format!(
        "{} has no generic parameters: its name stands for one kind of JSON, so write the types out",
        kind.noun()
    );
    if !item.generics.params.is_empty() {
        errors.at(&item.generics, message);
    } else if let Some(clause) = &item.generics.where_clause {
        errors.at(clause, message);
    }
}

fn data_struct<'a>(
    item: &'a DeriveInput,
    kind: Kind,
    errors: &mut Errors,
) -> Option<&'a DataStruct> {
    match &item.data {
        Data::Struct(data) => Some(data),
        Data::Enum(data) => {
            let message = format!(
                "{} is a struct: write one struct for each variant of this enum",
                kind.noun()
            );
            errors.at(data.enum_token, message);
            None
        }
        Data::Union(data) => {
            let message = format!("{} is a struct, not a union", kind.noun());
            errors.at(data.union_token, message);
            None
        }
    }
}

fn read_field(field: &syn::Field, kind: Kind, errors: &mut Errors) -> Option<Field> {
    let ident = field.ident.clone()?;
    if let Type::Reference(reference) = &field.ty {
        let message = format!(
            "{} owns its values, since they come from JSON: write `String` for a text, or another type without `&`",
            kind.noun()
        );
        errors.at(reference, message);
    }
    let member = match serde_attr::rename(&field.attrs, kind, errors) {
        Some(member) => member,
        None => member_of(&ident, errors),
    };
    Some(Field {
        ident,
        ty: field.ty.clone(),
        member,
        attrs: field.attrs.clone(),
    })
}

/// The member that a field is without being renamed.
fn member_of(ident: &Ident, errors: &mut Errors) -> String {
    let name = ident.unraw().to_string();
    // serde's camelCase panics on both.
    if !name.is_ascii() || name.chars().all(|character| character == '_') {
        let message = format!(
            "`{name}` does not become a name in JSON by itself: write `#[serde(rename = \"…\")]` above it"
        );
        errors.at(ident, message);
    }
    naming::camel_case(&name)
}

fn check_members(fields: &[Field], errors: &mut Errors) {
    let mut members = BTreeMap::new();
    for field in fields {
        if let Some(earlier) = members.insert(&field.member, &field.ident) {
            let message = format!(
                "`{earlier}` and `{}` are both `{}` in JSON: rename one of them",
                field.ident, field.member
            );
            errors.at(&field.ident, message);
        }
    }
}

/// Notes attributes of ours on a field that belong on the struct.
pub(crate) fn check_placement(fields: &[Field], on_struct: &[&str], errors: &mut Errors) {
    for attr in fields.iter().flat_map(|field| &field.attrs) {
        if let Some(name) = on_struct.iter().find(|name| attr.path().is_ident(name)) {
            let message = format!("`#[{name}(…)]` stands above the struct, not on a field");
            errors.at(attr, message);
        }
    }
}
