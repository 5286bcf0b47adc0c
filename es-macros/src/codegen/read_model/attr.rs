//! Parses `#[read_model(…)]`.

use syn::{Attribute, LitInt, LitStr, Meta};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
};

/// The arguments of `#[read_model(…)]`.
#[derive(Default)]
pub(crate) struct ReadModelAttr {
    pub(crate) table: Option<LitStr>,
    pub(crate) subject: Option<LitStr>,
    pub(crate) version: Option<LitInt>,
    /// True if there is a table, even an invalid one.
    pub(crate) has_table: bool,
}

const KEYS: [&str; 4] = ["table", "subject", "version", "inline"];

/// Parses all `#[read_model(…)]` attributes of the struct as one.
pub(crate) fn parse_attributes(attrs: &[Attribute], errors: &mut Errors) -> ReadModelAttr {
    let mut keys = SeenKeys::new("read_model", &KEYS);
    let mut read = ReadModelAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_table = keys.contains("table");
    read
}

impl ReadModelAttr {
    /// Sets the value of a key.
    fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "table" => {
                self.table = attribute::parse_text(meta, "table = \"book_copies\"", errors);
            }
            "subject" => {
                self.subject = attribute::parse_text(meta, "subject = \"/books/{id}\"", errors);
            }
            "version" => self.version = version(meta, errors),
            "inline" => {
                let message = "there are no inline read models any more: remove `inline`, and let clients that read their own writes send the header `Event-Position` of the command's response";
                errors.record(meta, message);
            }
            _ => {}
        }
    }
}

fn version(meta: &Meta, errors: &mut Errors) -> Option<LitInt> {
    let number = attribute::parse_number(meta, "version = 2", errors)?;
    if number.base10_parse::<u32>().is_ok() {
        return Some(number);
    }
    errors.record(number, "`version` is a whole number: write `version = 2`");
    None
}
