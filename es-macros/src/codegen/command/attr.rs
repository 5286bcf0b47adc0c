//! `#[command(…)]`, read but not yet understood.

use syn::{Attribute, Ident, LitStr, Meta};

use crate::codegen::{
    attribute::{self, Keys},
    errors::Errors,
};

/// What stands in `#[command(…)]`.
pub(crate) struct CommandAttr {
    pub(crate) subject: Option<LitStr>,
    pub(crate) condition: Option<Ident>,
    pub(crate) path: Option<LitStr>,
    pub(crate) role: Option<LitStr>,
    pub(crate) summary: Option<LitStr>,
    /// Whether nobody posts it.
    pub(crate) internal: Option<Meta>,
    /// Whether there is a subject, be it one that could not be read.
    pub(crate) has_subject: bool,
}

const KEYS: [&str; 6] = [
    "subject",
    "condition",
    "path",
    "role",
    "summary",
    "internal",
];

/// Reads every `#[command(…)]` of the struct as one.
pub(crate) fn read(attrs: &[Attribute], errors: &mut Errors) -> CommandAttr {
    let mut keys = Keys::new("command", &KEYS);
    let mut read = CommandAttr {
        subject: None,
        condition: None,
        path: None,
        role: None,
        summary: None,
        internal: None,
        has_subject: false,
    };
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("command")) {
        match attribute::elements(attr, errors) {
            None => keys.assume_all(),
            Some(elements) => {
                for meta in elements {
                    read.take(&meta, &mut keys, errors);
                }
            }
        }
    }
    read.has_subject = keys.has("subject");
    read
}

impl CommandAttr {
    fn take(&mut self, meta: &Meta, keys: &mut Keys, errors: &mut Errors) {
        match keys.recognize(meta, errors) {
            Some("subject") => {
                self.subject = attribute::text(meta, "subject = \"/books/{id}\"", errors);
            }
            Some("condition") => {
                self.condition = attribute::word(meta, "condition = pristine", errors).cloned();
            }
            Some("path") => {
                self.path = attribute::text(meta, "path = \"/books/purchase\"", errors);
            }
            Some("role") => self.role = attribute::text(meta, "role = \"staff\"", errors),
            Some("summary") => {
                self.summary = attribute::text(meta, "summary = \"Purchases a book\"", errors);
            }
            Some("internal") => {
                if !matches!(meta, Meta::Path(_)) {
                    errors.at(meta, "`internal` has no value: write it alone");
                }
                self.internal = Some(meta.clone());
            }
            _ => {}
        }
    }
}
