//! `#[command(…)]`, read but not yet understood.

use syn::{Attribute, Ident, LitStr, Meta};

use crate::codegen::{
    attribute::{self, Keys},
    errors::Errors,
};

/// What stands in `#[command(…)]`.
#[derive(Default)]
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
    let mut read = CommandAttr::default();
    keys.read(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_subject = keys.has("subject");
    read
}

impl CommandAttr {
    fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "subject" => {
                self.subject = attribute::text(meta, "subject = \"/books/{id}\"", errors);
            }
            "condition" => {
                self.condition = attribute::word(meta, "condition = pristine", errors).cloned();
            }
            "path" => {
                self.path = attribute::text(meta, "path = \"/books/purchase\"", errors);
            }
            "role" => self.role = attribute::text(meta, "role = \"staff\"", errors),
            "summary" => {
                self.summary = attribute::text(meta, "summary = \"Purchases a book\"", errors);
            }
            "internal" => {
                if !matches!(meta, Meta::Path(_)) {
                    errors.at(meta, "`internal` has no value: write it alone");
                }
                self.internal = Some(meta.clone());
            }
            _ => {}
        }
    }
}
