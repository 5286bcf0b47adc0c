//! `#[event(…)]`, read but not yet understood.

use syn::{Attribute, Expr, ExprLit, Lit, LitInt, LitStr, Meta};

use crate::codegen::{
    attribute::{self, Keys},
    errors::Errors,
};

/// What stands in `#[event(…)]`.
#[derive(Default)]
pub(crate) struct EventAttr {
    pub(crate) package: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<LitInt>,
    pub(crate) subject: Option<LitStr>,
    pub(crate) read_model: Option<LitStr>,
    /// Whether there is a package, be it one that could not be read.
    pub(crate) has_package: bool,
}

const KEYS: [&str; 5] = ["package", "name", "version", "subject", "read_model"];

/// Reads every `#[event(…)]` of the struct as one.
pub(crate) fn read(attrs: &[Attribute], errors: &mut Errors) -> EventAttr {
    let mut keys = Keys::new("event", &KEYS);
    let mut read = EventAttr::default();
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("event")) {
        match attribute::elements(attr, errors) {
            None => keys.assume_all(),
            Some(elements) => {
                for meta in elements {
                    read.take(&meta, &mut keys, errors);
                }
            }
        }
    }
    read.has_package = keys.has("package");
    read
}

impl EventAttr {
    fn take(&mut self, meta: &Meta, keys: &mut Keys, errors: &mut Errors) {
        match keys.recognize(meta, errors) {
            Some("package") => {
                self.package = attribute::text(meta, "package = \"com.example.library\"", errors);
            }
            Some("name") => {
                self.name = attribute::text(meta, "name = \"BookPurchasedEvent\"", errors);
            }
            Some("version") => self.version = version(meta, errors),
            Some("subject") => {
                self.subject = attribute::text(meta, "subject = \"/readers/{reader}\"", errors);
            }
            Some("read_model") => {
                self.read_model = attribute::text(meta, "read_model = \"books\"", errors);
            }
            _ => {}
        }
    }
}

fn version(meta: &Meta, errors: &mut Errors) -> Option<LitInt> {
    let value = attribute::value(meta, "version = 2", errors)?;
    if let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = value
    {
        return Some(number.clone());
    }
    errors.at(value, "`version` is a whole number: write `version = 2`");
    None
}
