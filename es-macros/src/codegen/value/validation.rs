//! Generates the validation of a value's fields.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Field, Fields, Meta, Variant, ext::IdentExt as _,
    spanned::Spanned as _,
};

use crate::codegen::{
    attribute,
    errors::Errors,
    framework::Framework,
    naming,
    validate::{self, Rule, ValueWithRules},
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
    for attr in item.attrs.iter().chain(on_variants) {
        if attr.path().is_ident("validate") {
            errors.record(
                attr,
                "`#[validate(…)]` stands above the field whose value it is about",
            );
        }
    }
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
    let is_transparent = words(&item.attrs).any(|(key, _)| key == "transparent");
    let checks = checks(fields, is_transparent, framework);
    if checks.is_empty() {
        return checks;
    }
    let bindings = bindings(fields);
    quote! {
        let Self { #bindings } = self;
        #checks
    }
}

/// Generates one match arm for each variant with rules.
fn of_enum<'a>(
    item: &DeriveInput,
    variants: impl Iterator<Item = &'a Variant>,
    framework: &Framework,
) -> TokenStream {
    let representation = EnumRepresentation::from_attributes(&item.attrs);
    let mut arms = vec![];
    let mut is_whole = true;
    for variant in variants {
        let checks = checks(&variant.fields, false, framework);
        if checks.is_empty() {
            is_whole = false;
            continue;
        }
        let ident = &variant.ident;
        let bindings = bindings(&variant.fields);
        let checks = representation.lead(variant, checks);
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
    let bindings = fields.iter().enumerate();
    let bindings = bindings.map(|(index, field)| binding(field, index));
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
/// to check.
fn checks(fields: &Fields, is_transparent: bool, framework: &Framework) -> TokenStream {
    let is_inner = is_transparent || matches!(fields, Fields::Unnamed(_)) && fields.len() == 1;
    let rules: Vec<Vec<Rule>> = fields
        .iter()
        .map(|field| validate::parse_rules(&field.attrs, &mut Errors::default()))
        .collect();
    let checked = fields.iter().zip(&rules).enumerate();
    let checked = checked.map(|(index, (field, rules))| ValueWithRules {
        member: member(field, index).filter(|_| !is_inner),
        value: binding(field, index).into_token_stream(),
        ty: &field.ty,
        rules,
    });
    let checks = validate::validation_statements(&checked.collect::<Vec<_>>(), framework);
    quote!(#(#checks)*)
}

/// Returns the JSON name of a field. `None` if its members belong to the surrounding object.
fn member(field: &Field, index: usize) -> Option<String> {
    if words(&field.attrs).any(|(key, _)| key == "flatten") {
        return None;
    }
    let name = |ident: &Ident| naming::camel_case(&ident.unraw().to_string());
    let own = field.ident.as_ref().map(name);
    Some(
        renamed(&field.attrs)
            .or(own)
            .unwrap_or_else(|| index.to_string()),
    )
}

/// The representation of an enum in JSON, in the terms of serde.
enum EnumRepresentation {
    /// The fields of a variant are in a member with its name.
    ExternallyTagged,
    /// The fields of all variants are in the member with this name.
    AdjacentlyTagged(String),
    /// The fields are in the object itself: the enum is internally tagged or untagged.
    Flat,
}

impl EnumRepresentation {
    fn from_attributes(attrs: &[Attribute]) -> Self {
        let mut representation = Self::ExternallyTagged;
        for (key, text) in words(attrs) {
            match (key.as_str(), text) {
                ("content", Some(content)) => return Self::AdjacentlyTagged(content),
                ("tag" | "untagged", _) => representation = Self::Flat,
                _ => {}
            }
        }
        representation
    }

    fn lead(&self, variant: &Variant, checks: TokenStream) -> TokenStream {
        let member = match self {
            Self::Flat => return checks,
            Self::AdjacentlyTagged(content) => content.clone(),
            Self::ExternallyTagged => renamed(&variant.attrs)
                .unwrap_or_else(|| naming::lower_camel_case(&variant.ident.unraw().to_string())),
        };
        quote!(violations.check_member(#member, |violations| { #checks });)
    }
}

fn renamed(attrs: &[Attribute]) -> Option<String> {
    words(attrs).find_map(|(key, text)| text.filter(|_| key == "rename"))
}

/// Returns the keys and strings of serde attributes.
fn words(attrs: &[Attribute]) -> impl Iterator<Item = (String, Option<String>)> {
    let serde = attrs.iter().filter(|attr| attr.path().is_ident("serde"));
    let mut errors = Errors::default();
    let elements = serde.filter_map(move |attr| attribute::parse_elements(attr, &mut errors));
    elements.flatten().map(|meta: Meta| {
        let text = attribute::parse_text(&meta, "", &mut Errors::default());
        (attribute::key_name(&meta), text.map(|text| text.value()))
    })
}
