//! Parses `#[rejection(…)]` without checking the values.

use proc_macro2::Ident;
use syn::{Attribute, LitStr, Meta};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
    naming,
};

/// The keys of `#[rejection(…)]`.
#[derive(Default)]
pub(crate) struct RejectionAttr {
    /// The variant of `RejectionKind`.
    pub(crate) kind: Option<&'static str>,
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) detail: Option<LitStr>,
    /// True if the attribute contains a kind, even one that could not be parsed.
    pub(crate) has_kind: bool,
}

const KEYS: [&str; 8] = [
    "conflict",
    "gone",
    "not_found",
    "forbidden",
    "invalid",
    "name",
    "title",
    "detail",
];

/// The kinds of rejections: the word in the attribute and the variant of `RejectionKind`.
const KINDS: [(&str, &str); 5] = [
    ("conflict", "Conflict"),
    ("gone", "Gone"),
    ("not_found", "NotFound"),
    ("forbidden", "Forbidden"),
    ("invalid", "Invalid"),
];

/// Parses all `#[rejection(…)]` attributes of a variant or a struct as one.
pub(crate) fn parse_attributes(attrs: &[Attribute], errors: &mut Errors) -> RejectionAttr {
    let mut keys = SeenKeys::new("rejection", &KEYS).called("word");
    let mut read = RejectionAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_kind = KINDS.iter().any(|(word, _)| keys.contains(word));
    read
}

/// Records an error at the name of an item whose rejection has no kind.
pub(crate) fn missing_kind(ident: &Ident, errors: &mut Errors) {
    let words = KINDS.map(|(word, _)| word);
    let message = format!(
        "`{ident}` does not say what kind of rejection it is: write `#[rejection(conflict)]` above it; the kinds are {}",
        naming::join_names(&words)
    );
    errors.record(ident, message);
}

impl RejectionAttr {
    /// Sets the value of a key.
    fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "name" => self.name = attribute::parse_text(meta, "name = \"copy-is-lent\"", errors),
            "title" => {
                self.title = attribute::parse_text(meta, "title = \"The copy is lent\"", errors)
            }
            "detail" => {
                let example = "detail = \"the copy is lent until {due_at}\"";
                self.detail = attribute::parse_text(meta, example, errors);
            }
            word => self.take_kind(word, meta, errors),
        }
    }

    fn take_kind(&mut self, word: &str, meta: &Meta, errors: &mut Errors) {
        if !matches!(meta, Meta::Path(_)) {
            errors.record(
                meta,
                format!("`{word}` has no value: write `#[rejection({word})]`"),
            );
        } else if self.kind.is_some() {
            let message = format!("a refusal is of one sort: remove `{word}`");
            errors.record(meta, message);
        }
        let kind = KINDS.iter().find(|(known, _)| *known == word);
        self.kind = self.kind.or(kind.map(|(_, kind)| *kind));
    }
}
