//! Parses the named fields of a struct and their JSON names.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Attribute, Data, DataStruct, DeriveInput, Fields, Ident, LitStr, Type, Visibility,
    ext::IdentExt as _, spanned::Spanned as _,
};

use super::{
    attribute, declaration_kind::DeclarationKind, errors::Errors, framework::Framework, generics,
    json_names::JsonNames, naming, round_trip, serde_attr, template::Template, types,
};

/// A named field.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// The JSON name of the field.
    pub(crate) member: String,
    pub(crate) attrs: Vec<Attribute>,
}

impl Field {
    /// Returns the name without `r#`.
    pub(crate) fn name(&self) -> String {
        self.ident.unraw().to_string()
    }

    /// Returns the last segment of the type: `Option` for `std::option::Option<String>`.
    pub(crate) fn type_name(&self) -> Option<String> {
        types::last_word(&self.ty)
    }
}

/// Returns the JSON name of a field that a template names. Other checks report a field that does not exist.
pub(crate) fn member_name(field: Option<&Field>, name: &str) -> String {
    field.map_or_else(|| name.to_owned(), |field| field.member.clone())
}

/// Generates the subject part of a field. The compiler reports an unsuitable type at the field's
/// type.
pub(crate) fn subject_part(field: &Field, framework: &Framework) -> TokenStream {
    let span = field.ty.span();
    let framework = framework.with_span(span);
    let (member, value) = (&field.member, variable_of(field));
    quote_spanned!(span=> #framework::event::SubjectTemplatePart::field(#member, #value))
}

/// Returns the variable that borrows a field. It has the span of the field's type, where the compiler
/// reports mistakes. `self` with this span would not be the generated `self` if the type is a variable of
/// another `macro_rules!`.
pub(crate) fn variable_of(field: &Field) -> Ident {
    format_ident!("_{}", field.name(), span = field.ty.span())
}

/// Generates the statement that borrows fields of `self`, each as its variable.
pub(crate) fn borrow_fields<'a>(fields: impl IntoIterator<Item = &'a Field>) -> TokenStream {
    let patterns = fields.into_iter().map(|field| {
        let (ident, variable) = (&field.ident, variable_of(field));
        quote!(#ident: #variable)
    });
    match patterns.collect::<Vec<_>>().as_slice() {
        [] => TokenStream::new(),
        borrowed => quote!(let Self { #(#borrowed,)* .. } = self;),
    }
}

/// Parses the fields, if the item is a struct with named fields.
pub(crate) fn parse_fields(
    item: &DeriveInput,
    kind: DeclarationKind,
    errors: &mut Errors,
) -> Option<Vec<Field>> {
    let message = format!(
        "{} has no generic parameters: its name stands for one kind of JSON, so write the types out",
        kind.noun()
    );
    generics::reject_generics(&item.generics, &message, errors);
    let DataStruct { fields, .. } = data_struct(item, kind, errors)?;
    let fields = match fields {
        Fields::Named(fields) => fields,
        Fields::Unnamed(unnamed) => {
            let message = format!(
                "{} has named fields, since they are the members of its JSON: write `struct {} {{ name: Type }}`",
                kind.noun(),
                item.ident
            );
            errors.record(unnamed, message);
            return None;
        }
        Fields::Unit => {
            let message = format!(
                "{} is a JSON object: write `struct {} {{}}`",
                kind.noun(),
                item.ident
            );
            errors.record(&item.ident, message);
            return None;
        }
    };
    let mut members = JsonNames::in_case(naming::camel_case);
    let named = fields.named.iter();
    let read = named.filter_map(|field| read_field(field, kind, &mut members, errors));
    Some(read.collect())
}

fn data_struct<'a>(
    item: &'a DeriveInput,
    kind: DeclarationKind,
    errors: &mut Errors,
) -> Option<&'a DataStruct> {
    match &item.data {
        Data::Struct(data) => Some(data),
        Data::Enum(data) => {
            let message = format!(
                "{} is a struct: write one struct for each variant of this enum",
                kind.noun()
            );
            errors.record(data.enum_token, message);
            None
        }
        Data::Union(data) => {
            let message = format!("{} is a struct, not a union", kind.noun());
            errors.record(data.union_token, message);
            None
        }
    }
}

fn read_field<'a>(
    field: &'a syn::Field,
    kind: DeclarationKind,
    members: &mut JsonNames<'a>,
    errors: &mut Errors,
) -> Option<Field> {
    let ident = field.ident.as_ref()?;
    if let Type::Reference(reference) = &field.ty {
        let message = format!(
            "{} owns its values, since they come from JSON: write `String` for a text, or another type without `&`",
            kind.noun()
        );
        errors.record(reference, message);
    }
    let renamed = serde_attr::rename(&field.attrs, kind, errors);
    if matches!(kind, DeclarationKind::Command | DeclarationKind::Event) {
        round_trip::check_field(&field.attrs, &field.ty, errors);
    }
    Some(Field {
        member: members.assign_name(ident, renamed, errors),
        vis: field.vis.clone(),
        ident: ident.clone(),
        ty: field.ty.clone(),
        attrs: field.attrs.clone(),
    })
}

/// Records an error for names in a subject that are unknown or optional fields. `noun` describes
/// the struct.
pub(crate) fn check_subject(
    template: &Template,
    text: &LitStr,
    noun: &str,
    fields: &[&Field],
    errors: &mut Errors,
) {
    for field in fields_of_template(template, text, noun, fields, errors) {
        if field.type_name().as_deref() == Some("Option") {
            let message = format!(
                "`{}` is part of the subject, which every {noun} has: make it a value without `Option`",
                field.name()
            );
            errors.record(&field.ty, message);
        }
    }
}

/// Returns the fields that a template names. Records an error for unknown names; `noun` describes
/// the struct.
pub(crate) fn fields_of_template<'a>(
    template: &Template,
    text: &LitStr,
    noun: &str,
    fields: &[&'a Field],
    errors: &mut Errors,
) -> Vec<&'a Field> {
    let mut found = vec![];
    for name_in_template in template.fields() {
        match fields.iter().find(|field| field.name() == name_in_template) {
            Some(field) => found.push(*field),
            None => {
                let (whose, names) = (format!("the {noun}"), fields.iter().map(|one| one.name()));
                let message = naming::no_such_field(&whose, name_in_template, names);
                errors.record(text, message);
            }
        }
    }
    found
}

/// Records an error for attributes on a field that belong on the struct.
pub(crate) fn check_placement(fields: &[Field], on_struct: &[&str], errors: &mut Errors) {
    for attrs in fields.iter().map(|field| &field.attrs) {
        for name in on_struct {
            let message = format!("`#[{name}(…)]` stands above the struct, not on a field");
            attribute::refuse(attrs, name, &message, errors);
        }
    }
}
