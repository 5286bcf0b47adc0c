//! Parses `#[event(…)]` without checking the values.

use syn::{Attribute, LitInt, LitStr, Meta};

use crate::codegen::{
    attribute::{self, AttributeKeys},
    errors::Errors,
};

/// The keys of `#[event(…)]`.
#[derive(Default)]
pub(crate) struct EventAttr {
    pub(crate) package: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<LitInt>,
    pub(crate) subject: Option<LitStr>,
    pub(crate) read_model: Option<LitStr>,
    /// True if the attribute contains a package, even one that could not be parsed.
    pub(crate) has_package: bool,
}

const KEYS: [&str; 5] = ["package", "name", "version", "subject", "read_model"];

/// Parses all `#[event(…)]` attributes of the struct as one.
pub(crate) fn read(attrs: &[Attribute], errors: &mut Errors) -> EventAttr {
    let mut keys = AttributeKeys::new("event", &KEYS);
    let mut read = EventAttr::default();
    keys.read(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_package = keys.contains("package");
    read
}

impl EventAttr {
    /// Sets the value of a key.
    fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "package" => {
                self.package =
                    attribute::parse_text(meta, "package = \"com.example.library\"", errors);
            }
            "name" => {
                self.name = attribute::parse_text(meta, "name = \"BookPurchasedEvent\"", errors);
            }
            "version" => self.version = attribute::parse_number(meta, "version = 2", errors),
            "subject" => {
                self.subject =
                    attribute::parse_text(meta, "subject = \"/readers/{reader}\"", errors);
            }
            "read_model" => {
                self.read_model = attribute::parse_text(meta, "read_model = \"books\"", errors);
            }
            _ => {}
        }
    }
}
