//! Parses `#[public_event(…)]` without checking the values.

use syn::{Attribute, LitInt, LitStr};

use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
};

/// The keys of `#[public_event(…)]`.
#[derive(Default)]
pub(super) struct PublicEventAttr {
    pub(super) package: Option<LitStr>,
    pub(super) name: Option<LitStr>,
    pub(super) version: Option<LitInt>,
    /// True if the attribute contains a package, even one that could not be parsed.
    pub(super) has_package: bool,
}

/// Parses all `#[public_event(…)]` attributes of the struct as one.
pub(super) fn parse_attributes(attrs: &[Attribute], errors: &mut Errors) -> PublicEventAttr {
    let mut keys = SeenKeys::new("public_event", &["package", "name", "version"]);
    let mut read = PublicEventAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| match key {
        "package" => {
            read.package = attribute::parse_text(meta, "package = \"com.example.library\"", errors);
        }
        "name" => read.name = attribute::parse_text(meta, "name = \"CopyAvailable\"", errors),
        _ => read.version = attribute::parse_number(meta, "version = 2", errors),
    });
    read.has_package = keys.contains("package");
    read
}
