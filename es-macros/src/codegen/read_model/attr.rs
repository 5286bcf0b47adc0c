//! `#[read_model(…)]`, read but not yet understood.

use syn::{Attribute, Expr, ExprLit, Lit, LitInt, LitStr, Meta};

use crate::codegen::{
    attribute::{self, Keys},
    errors::Errors,
};

/// What stands in `#[read_model(…)]`.
#[derive(Default)]
pub(crate) struct ReadModelAttr {
    pub(crate) table: Option<LitStr>,
    pub(crate) subject: Option<LitStr>,
    pub(crate) version: Option<LitInt>,
    /// Whether there is a table, be it one that could not be read.
    pub(crate) has_table: bool,
}

const KEYS: [&str; 3] = ["table", "subject", "version"];

/// Reads every `#[read_model(…)]` of the struct as one.
pub(crate) fn read(attrs: &[Attribute], errors: &mut Errors) -> ReadModelAttr {
    let mut keys = Keys::new("read_model", &KEYS);
    let mut read = ReadModelAttr::default();
    let is_ours = |attr: &&Attribute| attr.path().is_ident("read_model");
    for attr in attrs.iter().filter(is_ours) {
        match attribute::elements(attr, errors) {
            None => keys.assume_all(),
            Some(elements) => {
                for meta in elements {
                    read.take(&meta, &mut keys, errors);
                }
            }
        }
    }
    read.has_table = keys.has("table");
    read
}

impl ReadModelAttr {
    fn take(&mut self, meta: &Meta, keys: &mut Keys, errors: &mut Errors) {
        match keys.recognize(meta, errors) {
            Some("table") => {
                self.table = attribute::text(meta, "table = \"book_copies\"", errors);
            }
            Some("subject") => {
                self.subject = attribute::text(meta, "subject = \"/books/{id}\"", errors);
            }
            Some("version") => self.version = number(meta, errors),
            _ => {}
        }
    }
}

fn number(meta: &Meta, errors: &mut Errors) -> Option<LitInt> {
    let value = attribute::value(meta, "version = 2", errors)?;
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = value
        && number.base10_parse::<u32>().is_ok()
    {
        return Some(number.clone());
    }
    errors.at(value, "`version` is a whole number: write `version = 2`");
    None
}
