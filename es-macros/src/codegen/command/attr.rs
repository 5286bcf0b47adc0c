//! Parses `#[command(…)]` without checking the values.

use syn::{Attribute, Ident, LitStr, Meta};

use crate::codegen::{
    attribute::{self, SeenKeys},
    caller_rules::{CallerKeys, parse_roles},
    errors::Errors,
};

/// The keys of `#[command(…)]`.
#[derive(Default)]
pub(crate) struct CommandAttr {
    pub(crate) subject: Option<LitStr>,
    pub(crate) condition: Option<Ident>,
    /// The other subjects that must have an event.
    pub(crate) exists: Vec<LitStr>,
    pub(crate) path: Option<LitStr>,
    pub(crate) caller: CallerKeys,
    /// The roles that say when something happened before.
    pub(crate) backdate_roles: Vec<LitStr>,
    pub(crate) summary: Option<LitStr>,
    /// The key `internal`: clients cannot send the command.
    pub(crate) internal: Option<Meta>,
    /// True if the attribute contains a subject, even one that could not be parsed.
    pub(crate) has_subject: bool,
}

const KEYS: [&str; 11] = [
    "subject",
    "condition",
    "exists",
    "path",
    "role",
    "role_without_token",
    "owner",
    "owner_except",
    "backdate_role",
    "summary",
    "internal",
];

/// Parses all `#[command(…)]` attributes of the struct as one.
pub(crate) fn parse_attributes(attrs: &[Attribute], errors: &mut Errors) -> CommandAttr {
    let mut keys = SeenKeys::new("command", &KEYS);
    let mut read = CommandAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_subject = keys.contains("subject");
    read
}

impl CommandAttr {
    /// Sets the value of a key.
    fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "subject" => {
                self.subject = attribute::parse_text(meta, "subject = \"/books/{id}\"", errors);
            }
            "condition" => {
                self.condition =
                    attribute::parse_word(meta, "condition = pristine", errors).cloned();
            }
            "exists" => self.exists = parse_subjects(meta, errors),
            "path" => {
                self.path = attribute::parse_text(meta, "path = \"/books/purchase\"", errors);
            }
            "backdate_role" => {
                let example = "backdate_role = \"importer\"";
                self.backdate_roles = parse_roles(meta, example, errors);
            }
            "summary" => {
                self.summary =
                    attribute::parse_text(meta, "summary = \"Purchases a book\"", errors);
            }
            "internal" => {
                attribute::check_flag(meta, errors);
                self.internal = Some(meta.clone());
            }
            _ => self.caller.take(key, meta, errors),
        }
    }
}

/// Parses `exists = "/clubs/{club}"`, or several subjects in brackets.
fn parse_subjects(meta: &Meta, errors: &mut Errors) -> Vec<LitStr> {
    const EXAMPLE: &str = "exists = \"/clubs/{club}\"";
    let several = attribute::parse_one_or_several(meta, EXAMPLE, errors);
    let mut subjects = Vec::new();
    for element in several.map(|(_, elements)| elements).unwrap_or_default() {
        match attribute::text_of(element) {
            Some(subject) => subjects.push(subject.clone()),
            None => errors.record(
                element,
                format!(
                    "a subject is a text, and several are in brackets: write `{EXAMPLE}`; for the command's own subject, write `condition = exists`"
                ),
            ),
        }
    }
    subjects
}
