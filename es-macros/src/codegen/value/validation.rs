//! Generates the validation of a value's fields.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, Variant, ext::IdentExt as _, spanned::Spanned as _,
};

use crate::codegen::{
    attribute,
    errors::Errors,
    framework::Framework,
    json_item, naming,
    serde_words::{aliases, has_word, is_converted, renamed, words},
    validate::{self, JsonPlace, Rule, ValueWithRules},
};

/// Records mistakes in the rules.
pub(super) fn check_rules(item: &DeriveInput, errors: &mut Errors) {
    let (variants, fields): (Vec<_>, Vec<_>) = match &item.data {
        Data::Struct(data) => (vec![], data.fields.iter().collect()),
        Data::Enum(data) => {
            let fields = data.variants.iter().flat_map(|variant| &variant.fields);
            (data.variants.iter().collect(), fields.collect())
        }
        Data::Union(_) => return,
    };
    let on_variants = variants.into_iter().flat_map(|variant| &variant.attrs);
    let attrs = item.attrs.iter().chain(on_variants);
    let message = "`#[validate(…)]` stands above the field whose value it is about";
    attribute::refuse(attrs, "validate", message, errors);
    for field in fields {
        validate::parse_rules(&field.attrs, errors);
    }
}

/// Generates `impl Validate`.
pub(super) fn expand_validate(item: &DeriveInput, framework: &Framework) -> TokenStream {
    let checks = match &item.data {
        Data::Struct(data) => of_struct(item, &data.fields, framework),
        Data::Enum(data) => of_enum(item, data.variants.iter(), framework),
        Data::Union(_) => TokenStream::new(),
    };
    implementation(&item.ident, &checks, framework)
}

/// Generates the implementation for a value with mistakes.
pub(super) fn generate_stub(ident: &Ident, framework: &Framework) -> TokenStream {
    implementation(ident, &TokenStream::new(), framework)
}

fn implementation(ident: &Ident, checks: &TokenStream, framework: &Framework) -> TokenStream {
    let violations = if checks.is_empty() {
        format_ident!("_violations")
    } else {
        format_ident!("violations")
    };
    quote! {
        #[automatically_derived]
        impl #framework::validate::Validate for #ident {
            fn validate(&self, #violations: &mut #framework::validate::Violations) {
                #checks
            }
        }
    }
}

fn of_struct(item: &DeriveInput, fields: &Fields, framework: &Framework) -> TokenStream {
    let is_transparent = has_word(&item.attrs, "transparent");
    let is_object = matches!(fields, Fields::Named(_)) && !is_transparent;
    let declared = is_object.then(|| declare_members(members(fields)));
    let whole = is_transparent.then_some(JsonPlace::Whole);
    let checks = checks(fields, whole, framework);
    let borrowed = (!checks.is_empty()).then(|| {
        let bindings = bindings(fields);
        quote!(let Self { #bindings } = self;)
    });
    quote!(#declared #borrowed #checks)
}

/// Generates one match arm for each variant with members or rules.
fn of_enum<'a>(
    item: &DeriveInput,
    variants: impl Iterator<Item = &'a Variant>,
    framework: &Framework,
) -> TokenStream {
    if json_item::is_enum_of_plain_words(item) {
        return TokenStream::new();
    }
    let representation = EnumRepresentation::from_attributes(&item.attrs);
    let mut arms = vec![];
    let mut is_whole = true;
    for variant in variants {
        let checks = representation.checks(variant, framework);
        if checks.is_empty() {
            is_whole = false;
            continue;
        }
        let ident = &variant.ident;
        let bindings = bindings(&variant.fields);
        arms.push(quote!(Self::#ident { #bindings } => { #checks }));
    }
    if arms.is_empty() {
        return TokenStream::new();
    }
    let others = (!is_whole).then(|| quote!(_ => {}));
    quote!(match self { #(#arms)* #others })
}

/// Returns the pattern that borrows all fields.
fn bindings(fields: &Fields) -> TokenStream {
    let members = fields.members();
    let numbered = fields.iter().enumerate();
    let bindings = numbered.map(|(index, field)| binding(field, index));
    quote!(#(#members: #bindings),*)
}

/// Returns the variable of a field, at whose type the compiler reports mistakes.
fn binding(field: &Field, index: usize) -> Ident {
    let span = field.ty.span();
    match &field.ident {
        Some(ident) => format_ident!("_{}", ident.unraw(), span = span),
        None => format_ident!("_{}", index, span = span),
    }
}

/// Generates the validation of fields in the same JSON object. Returns nothing if there is nothing
/// to check. `only` is the place of the field if there is only one.
fn checks(fields: &Fields, only: Option<JsonPlace>, framework: &Framework) -> TokenStream {
    let is_inner = matches!(fields, Fields::Unnamed(_)) && fields.len() == 1;
    let mut only = only.or(is_inner.then_some(JsonPlace::Whole));
    let rules: Vec<Vec<Rule>> = fields
        .iter()
        .map(|field| validate::parse_rules(&field.attrs, &mut Errors::default()))
        .collect();
    let numbered = fields.iter().zip(&rules).enumerate();
    let checked = numbered.map(|(index, (field, rules))| ValueWithRules {
        place: only.take().unwrap_or_else(|| place(field, index)),
        value: binding(field, index).into_token_stream(),
        ty: &field.ty,
        attrs: &field.attrs,
        rules,
    });
    let checks = validate::validation_statements(&checked.collect::<Vec<_>>(), framework);
    quote!(#(#checks)*)
}

fn place(field: &Field, index: usize) -> JsonPlace {
    if has_word(&field.attrs, "flatten") {
        return JsonPlace::Part;
    }
    let name = field.ident.as_ref().map(|ident| member(field, ident));
    JsonPlace::of_member(name.unwrap_or_else(|| index.to_string()), &field.attrs)
}

/// Returns the JSON name of a field.
fn member(field: &Field, ident: &Ident) -> String {
    renamed(&field.attrs).unwrap_or_else(|| naming::camel_case(&ident.unraw().to_string()))
}

/// Returns all names that the fields have in JSON.
fn members(fields: &Fields) -> Vec<String> {
    let fields = fields.iter().enumerate();
    let places = fields.map(|(index, field)| place(field, index));
    let names = places.filter_map(|place| match place {
        JsonPlace::Member(names) => Some(names),
        JsonPlace::Whole | JsonPlace::Part => None,
    });
    names.flatten().collect()
}

fn declare_members(names: Vec<String>) -> TokenStream {
    quote!(violations.declare_members(&[#(#names),*]);)
}

/// The representation of an enum in JSON, in the terms of serde.
enum EnumRepresentation {
    /// The fields of a variant are in a member with its name.
    ExternallyTagged,
    /// The name of the variant is in one member, and its fields are in another one.
    AdjacentlyTagged { tag: String, content: String },
    /// The fields are beside the member that names the variant.
    InternallyTagged { tag: String },
    /// The fields alone are in the object.
    Untagged,
}

impl EnumRepresentation {
    fn from_attributes(attrs: &[Attribute]) -> Self {
        let text = |name: &str| words(attrs).find_map(|(key, text)| text.filter(|_| key == name));
        match (text("tag"), text("content")) {
            (Some(tag), Some(content)) => Self::AdjacentlyTagged { tag, content },
            (Some(tag), None) => Self::InternallyTagged { tag },
            _ if has_word(attrs, "untagged") => Self::Untagged,
            _ => Self::ExternallyTagged,
        }
    }

    /// Generates the declaration of a variant's members, and the validation of its fields.
    fn checks(&self, variant: &Variant, framework: &Framework) -> TokenStream {
        let fields = &variant.fields;
        let is_tagged = !has_word(&variant.attrs, "untagged");
        let is_part = matches!(
            (self, fields),
            (Self::InternallyTagged { .. }, Fields::Unnamed(_))
        );
        let only = (is_part && is_tagged).then_some(JsonPlace::Part);
        let checks = checks(fields, only, framework);
        if is_converted(&variant.attrs) {
            return quote!(violations.check_converted(|violations| { #checks }););
        }
        let is_object = matches!(fields, Fields::Named(_));
        let own = is_object.then(|| declare_members(members(fields)));
        match self {
            Self::Untagged => quote!(#own #checks),
            _ if !is_tagged => quote!(#own #checks),
            Self::InternallyTagged { tag } => {
                let mut names = vec![tag.clone()];
                names.extend(is_object.then(|| members(fields)).into_iter().flatten());
                let declared = declare_members(names);
                quote!(#declared #checks)
            }
            Self::AdjacentlyTagged { tag, content } => {
                let declared = declare_members(vec![tag.clone(), content.clone()]);
                let inside = inside(std::slice::from_ref(content), &quote!(#own #checks));
                quote!(#declared #inside)
            }
            Self::ExternallyTagged if has_word(&variant.attrs, "other") => {
                quote!(violations.declare_every_member();)
            }
            Self::ExternallyTagged => {
                let name = naming::lower_camel_case(&variant.ident.unraw().to_string());
                let mut names = vec![renamed(&variant.attrs).unwrap_or(name)];
                names.extend(aliases(&variant.attrs));
                let inside = inside(&names, &quote!(#own #checks));
                let declared = declare_members(names);
                quote!(#declared #inside)
            }
        }
    }
}

/// Generates the validation of the member that has one of these names.
fn inside(names: &[String], checks: &TokenStream) -> TokenStream {
    match names {
        _ if checks.is_empty() => TokenStream::new(),
        [name] => quote!(violations.check_member(#name, |violations| { #checks });),
        names => quote! {
            violations.check_member_with_aliases(&[#(#names),*], |violations| { #checks });
        },
    }
}
