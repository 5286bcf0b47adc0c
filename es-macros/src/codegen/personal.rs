//! Personal data: `#[personal(of = id, erased = "…")]` on a field of an event or a value.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{
    Attribute, Data, DeriveInput, Expr, Field, Fields, Type, ext::IdentExt as _, parse_quote,
};

use super::{
    attribute::{self, SeenKeys},
    errors::Errors,
    framework::Framework,
    naming, serde_words, types,
};

const NAME: &str = "personal";
const KEYS: [&str; 2] = ["of", "erased"];

/// The serde words after which the macro cannot follow the value.
const UNFOLLOWED: [&str; 4] = ["with", "serialize_with", "flatten", "getter"];

/// The keys of `#[personal(…)]`.
#[derive(Default)]
struct PersonalAttr {
    of: Option<Ident>,
    erased: Option<Expr>,
}

/// Returns true if the field has the attribute.
pub(crate) fn is_personal(attrs: &[Attribute]) -> bool {
    attribute::has(attrs, NAME)
}

/// Returns the field beside it that names the person of a personal field.
pub(crate) fn person_field(attrs: &[Attribute]) -> Option<Ident> {
    parse(attrs, &mut Errors::default()).of
}

/// Records an error for each `#[personal]` that cannot be obeyed.
pub(crate) fn check_item(item: &DeriveInput, errors: &mut Errors) {
    reject(&item.attrs, errors);
    match &item.data {
        Data::Struct(data) => check_fields(&data.fields, errors),
        Data::Enum(data) => {
            for variant in &data.variants {
                reject(&variant.attrs, errors);
                check_fields(&variant.fields, errors);
            }
        }
        Data::Union(_) => {}
    }
}

fn reject(attrs: &[Attribute], errors: &mut Errors) {
    let message = "`#[personal(…)]` stands above the field that is personal";
    attribute::refuse(attrs, NAME, message, errors);
}

fn check_fields(fields: &Fields, errors: &mut Errors) {
    for field in fields.iter().filter(|field| is_personal(&field.attrs)) {
        let attr = parse(&field.attrs, errors);
        check_field(field, &attr, fields, errors);
    }
}

fn check_field(field: &Field, attr: &PersonalAttr, fields: &Fields, errors: &mut Errors) {
    let Some(own) = &field.ident else {
        errors.record(
            field,
            "a personal value is a field with a name, beside the field that names the person: write `{ id: Uuid, name: String }`",
        );
        return;
    };
    if types::last_word(&field.ty).as_deref() == Some("Uuid") {
        errors.record(
            &field.ty,
            "an id is not personal: it says nothing about a person, and subjects and keys need it",
        );
    }
    for word in UNFOLLOWED {
        if serde_words::has_word(&field.attrs, word) {
            let message = format!(
                "`{word}` writes the value in a way that is not known here, so that it cannot be sealed: remove it, or put `#[personal(…)]` on the fields of a type with `#[derive(Value)]`"
            );
            errors.record(&field.ty, message);
        }
    }
    if attr.erased.is_none() && types::inside_option(&field.ty).is_none() {
        errors.record(
            &field.ty,
            "nothing says what is read after the erasure: write `erased = \"…\"` with a replacement, or make the field an `Option`",
        );
    }
    let Some(of) = &attr.of else {
        errors.record(
            own,
            "nothing says whose the value is: write `#[personal(of = id)]` with the field that holds the person's id",
        );
        return;
    };
    let siblings = fields
        .iter()
        .filter(|other| other.ident.as_ref() != Some(own));
    match siblings
        .clone()
        .find(|other| other.ident.as_ref() == Some(of))
    {
        None => {
            let (of, names) = (of.unraw().to_string(), siblings.filter_map(name));
            let message = naming::no_such_field("what stands beside the value", &of, names);
            errors.record(&attr.of, message);
        }
        Some(person) if is_personal(&person.attrs) => {
            errors.record(
                of,
                "the id of a person is not personal: remove `#[personal(…)]` from that field",
            );
        }
        Some(_) => {}
    }
}

fn name(field: &Field) -> Option<String> {
    field.ident.as_ref().map(|ident| ident.unraw().to_string())
}

fn parse(attrs: &[Attribute], errors: &mut Errors) -> PersonalAttr {
    let mut keys = SeenKeys::new("personal", &KEYS);
    let mut read = PersonalAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| match key {
        "of" => read.of = attribute::parse_word(meta, "of = id", errors).cloned(),
        _ => {
            let example = "erased = \"erased reader\"";
            read.erased = attribute::parse_value(meta, example, errors).cloned();
        }
    });
    read
}

/// A field of the shadow type, as far as its sealing needs it.
pub(crate) struct SealedField<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) attrs: &'a [Attribute],
    /// Names, types and attributes of the fields in the same object.
    pub(crate) siblings: Vec<(&'a Ident, &'a Type, &'a [Attribute])>,
    /// A number that no other personal field of the item has.
    pub(crate) number: usize,
}

impl SealedField<'_> {
    /// Generates the attributes of the field in the shadow type, and the function that serializes it.
    pub(crate) fn expand(&self, framework: &Framework) -> Option<(Vec<Attribute>, TokenStream)> {
        let attr = parse(self.attrs, &mut Errors::default());
        let of = attr.of?;
        let mut siblings = self.siblings.iter();
        let (ident, of_ty, of_attrs) = siblings.find(|(ident, ..)| **ident == of)?;
        let member = serde_words::renamed(of_attrs)
            .unwrap_or_else(|| naming::camel_case(&ident.unraw().to_string()));
        let ty = self.ty;
        let erased = match &attr.erased {
            None => quote!(::core::option::Option::None),
            Some(value) => match attribute::text_of(value) {
                Some(text) => quote_spanned!(text.span()=> ::core::convert::From::from(#text)),
                None => value.to_token_stream(),
            },
        };
        let function = format_ident!("__serialize_personal_{}", self.number);
        let function_text = function.to_string();
        let ty_text = ty.to_token_stream().to_string();
        let module = quote!(#framework::event::personal);
        let serde = quote!(#framework::__private::serde);
        let of_framework = framework.with_span(of.span());
        let check = quote_spanned! {of.span()=>
            const _: () = #of_framework::event::personal::check_person_id::<#of_ty>();
        };
        // The code of schemars for a default that such a function serializes names the crate `serde`.
        let import = serde_words::has_word(self.attrs, "default").then(|| {
            quote! {
                #[allow(unused_imports)]
                use #framework::__private::serde_crate::*;
            }
        });
        let code = quote! {
            #import
            fn #function<S: #serde::Serializer>(
                value: &#ty,
                serializer: S,
            ) -> ::core::result::Result<S::Ok, S::Error> {
                #check
                #module::serialize(value, #member, || -> #ty { #erased }, serializer)
            }
        };
        let attrs = vec![
            parse_quote!(#[serde(serialize_with = #function_text)]),
            parse_quote!(#[schemars(with = #ty_text, extend("x-personal" = #member))]),
        ];
        Some((attrs, code))
    }
}

/// Generates the attributes and functions for all personal fields of one object.
pub(crate) fn expand_fields(
    fields: &[(&Ident, &Type, &[Attribute])],
    first: usize,
    framework: &Framework,
) -> Vec<Option<(Vec<Attribute>, TokenStream)>> {
    let numbered = fields.iter().enumerate();
    let expanded = numbered.map(|(index, (_, ty, attrs))| {
        is_personal(attrs).then(|| {
            let field = SealedField {
                ty,
                attrs,
                siblings: fields.to_vec(),
                number: first.saturating_add(index),
            };
            field.expand(framework)
        })?
    });
    expanded.collect()
}

/// Records an error for personal fields that the subject of an event contains.
pub(crate) fn check_subject_field(attrs: &[Attribute], ident: &Ident, errors: &mut Errors) {
    if is_personal(attrs) {
        let message = format!(
            "the subject of the event contains `{}`, and a subject is never erased: let the subject contain an id",
            ident.unraw()
        );
        errors.record(ident, message);
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn messages(item: &DeriveInput) -> Vec<String> {
        let mut errors = Errors::default();
        check_item(item, &mut errors);
        errors.messages()
    }

    #[test]
    fn a_text_with_a_replacement_and_an_option_without_one_are_fine() {
        let item = parse_quote! {
            struct ReaderRegisteredEvent {
                id: Uuid,
                #[personal(of = id, erased = "erased reader")] name: String,
                #[personal(of = id)] phone: Option<String>,
            }
        };
        assert!(messages(&item).is_empty());
    }

    #[test]
    fn every_mistake_is_reported() {
        let item = parse_quote! {
            enum Contact {
                Known {
                    #[personal(of = reader)] name: String,
                    #[personal(erased = "…")] phone: String,
                },
                Named(#[personal(of = id)] Option<String>),
            }
        };
        assert_eq!(messages(&item).len(), 4, "{:?}", messages(&item));
    }
}
