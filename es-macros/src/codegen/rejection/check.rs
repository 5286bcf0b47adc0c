//! Checks a parsed rejection and derives its titles and names.

use std::collections::BTreeMap;

use syn::{Ident, LitStr};

use super::{
    ast::{RejectionItem, RejectionVariant},
    attr,
    detail::{self, DetailTemplate},
};
use crate::codegen::{doc_comment::DocText, errors::Errors, naming};

/// A rejection type without mistakes.
pub(crate) struct CheckedRejection {
    pub(crate) ident: Ident,
    pub(crate) variants: Vec<CheckedVariant>,
    pub(crate) is_enum: bool,
}

/// A variant without mistakes.
pub(crate) struct CheckedVariant {
    pub(crate) ident: Ident,
    /// The variant of `RejectionKind`.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) title: DocText,
    pub(crate) detail: Option<DetailTemplate>,
}

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_rejection(
    declared: RejectionItem,
    errors: &mut Errors,
) -> Option<CheckedRejection> {
    let RejectionItem {
        ident,
        refusals,
        is_enum,
    } = declared;
    let mut names = BTreeMap::new();
    let mut variants = vec![];
    for refusal in &refusals {
        let variant = variant(refusal, errors);
        if let Some(variant) = &variant
            && let Some(earlier) = names.insert(variant.name.clone(), &refusal.ident)
        {
            let message = format!(
                "`{earlier}` and `{}` are both called `{}`: give one of them another name with `name = \"…\"`",
                refusal.ident, variant.name
            );
            errors.record(&refusal.ident, message);
        }
        variants.extend(variant);
    }
    Some(CheckedRejection {
        ident,
        variants,
        is_enum,
    })
}

fn variant(refusal: &RejectionVariant, errors: &mut Errors) -> Option<CheckedVariant> {
    let RejectionVariant {
        ident,
        title: commented,
        attr,
        fields,
    } = refusal;
    if !attr.has_kind {
        attr::missing_kind(ident, errors);
    }
    let detail = attr
        .detail
        .as_ref()
        .and_then(|text| detail::parse_detail(text, fields, errors));
    let name = match &attr.name {
        Some(name) => checked_name(name, errors),
        None => derived_name(ident, errors),
    };
    let title = title(ident, attr.title.as_ref(), commented.clone(), errors);
    Some(CheckedVariant {
        ident: ident.clone(),
        kind: attr.kind?,
        name: name?,
        title: title?,
        detail,
    })
}

/// Returns the title in the attribute, or else the summary of the doc comment, or else the words of the name.
fn title(
    ident: &Ident,
    literal: Option<&LitStr>,
    commented: Option<DocText>,
    errors: &mut Errors,
) -> Option<DocText> {
    let Some(literal) = literal else {
        return Some(commented.unwrap_or_else(|| DocText::Known(naming::sentence_of(ident))));
    };
    let text = literal.value();
    if text.trim().is_empty() {
        errors.record(
            literal,
            "a title says something: write a few words, such as `The copy is lent`",
        );
        return None;
    }
    Some(DocText::Known(text))
}

fn derived_name(ident: &Ident, errors: &mut Errors) -> Option<String> {
    let name = naming::kebab_case(ident);
    if is_name(&name) {
        return Some(name);
    }
    let message = format!(
        "`{ident}` does not become a name for programs by itself: write `name = \"…\"` in `#[rejection(…)]`"
    );
    errors.record(ident, message);
    None
}

fn checked_name(literal: &LitStr, errors: &mut Errors) -> Option<String> {
    let name = literal.value();
    if is_name(&name) {
        return Some(name);
    }
    let message = format!(
        "`{name}` is no name for programs: write lower-case ASCII letters and digits with `-` between the words, such as `copy-is-lent`"
    );
    errors.record(literal, message);
    None
}

/// The name becomes part of a URI.
fn is_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.split('-')
        .all(|word| !word.is_empty() && word.bytes().all(is_allowed))
}
