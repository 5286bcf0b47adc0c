//! Parses the arguments of `#[publish]`.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use syn::{Ident, Meta, Token, ext::IdentExt as _, parse::Parser as _, punctuated::Punctuated};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
};

/// Returns the personal fields of the event that the function sees: `personal(name, email)`.
pub(super) fn parse_arguments(arguments: TokenStream, errors: &mut Errors) -> Vec<Ident> {
    let mut keys = SeenKeys::new("publish", &["personal"]);
    let mut fields = Vec::new();
    for meta in attribute::parse_list(arguments, errors).0 {
        if keys.recognize(&meta, errors).is_some() {
            fields = parse_fields(&meta, errors);
        }
    }
    fields
}

fn parse_fields(meta: &Meta, errors: &mut Errors) -> Vec<Ident> {
    let parser = Punctuated::<Ident, Token![,]>::parse_terminated_with;
    let parsed = match meta {
        Meta::List(list) => (|input: syn::parse::ParseStream<'_>| parser(input, Ident::parse_any))
            .parse2(list.tokens.clone())
            .ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    let fields: Vec<_> = parsed.into_iter().flatten().collect();
    if fields.is_empty() {
        let message = "name the personal fields of the event that may leave: write `personal(name)`, or remove it";
        errors.record(meta, message);
    }
    let mut known = BTreeSet::new();
    for field in &fields {
        if !known.insert(field.unraw()) {
            let message = format!("`{field}` is named twice: remove one of them");
            errors.record(field, message);
        }
    }
    fields
}
