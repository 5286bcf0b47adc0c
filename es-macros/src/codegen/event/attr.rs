//! Parses `#[event(…)]` without checking the values.

use std::collections::BTreeSet;

use quote::ToTokens as _;
use syn::{
    Attribute, Expr, Ident, LitInt, LitStr, Meta, Path, Token, parse::Parser as _,
    punctuated::Punctuated,
};

use super::event_type::{self, EventType, TypeKeys};
use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
    manifest::Manifest,
    unique,
};

/// The keys of `#[event(…)]`.
#[derive(Default)]
pub(crate) struct EventAttr {
    pub(crate) package: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) version: Option<LitInt>,
    pub(crate) subject: Option<LitStr>,
    pub(crate) read_model: Option<LitStr>,
    /// The commands whose fields the event takes.
    pub(crate) from: Vec<Path>,
    /// True if no declaration has to consume the event.
    pub(crate) informational: bool,
    /// The rules about unique values whose values the event's subject gives up.
    pub(crate) releases: Vec<LitStr>,
    /// True if the attribute contains a package, even one that could not be parsed.
    pub(crate) has_package: bool,
}

const KEYS: [&str; 8] = [
    "package",
    "name",
    "version",
    "subject",
    "read_model",
    "from",
    "informational",
    "releases",
];

/// Parses all `#[event(…)]` attributes of the struct as one.
pub(crate) fn parse_attributes(attrs: &[Attribute], errors: &mut Errors) -> EventAttr {
    let mut keys = SeenKeys::new("event", &KEYS);
    let mut read = EventAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_package = keys.contains("package");
    read
}

impl EventAttr {
    /// Builds the type. The first version has no number.
    pub(crate) fn build_type(
        &self,
        ident: &Ident,
        manifest: &Manifest,
        errors: &mut Errors,
    ) -> Option<EventType> {
        let version = self.version.as_ref();
        let suffix = version.map(|version| event_type::suffix(version, errors));
        let keys = TypeKeys {
            attribute: "event",
            package: self.package.as_ref(),
            has_package: self.has_package,
            name: self.name.as_ref(),
        };
        keys.build_type(ident, &suffix.unwrap_or_default(), manifest, errors)
    }

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
            "from" => self.from = commands(meta, errors),
            "releases" => self.releases = unique::parse_releases(meta, errors),
            "informational" => {
                attribute::check_flag(meta, errors);
                self.informational = true;
            }
            _ => {}
        }
    }
}

/// Parses `from = PurchaseBookCommand`, or `from(PurchaseBookCommand, DonateBookCommand)`.
fn commands(meta: &Meta, errors: &mut Errors) -> Vec<Path> {
    let parser = Punctuated::<Path, Token![,]>::parse_terminated;
    let commands: Vec<_> = match meta {
        Meta::NameValue(pair) => command(attribute::ungrouped(&pair.value), errors)
            .into_iter()
            .collect(),
        Meta::List(list) => parser
            .parse2(list.tokens.clone())
            .into_iter()
            .flatten()
            .collect(),
        Meta::Path(_) => vec![],
    };
    if commands.is_empty() {
        errors.record(meta, FROM);
    }
    without_repeated(commands, errors)
}

const FROM: &str = "`from` names the command whose fields the event takes: write `from = PurchaseBookCommand`, or `from(PurchaseBookCommand, DonateBookCommand)`";

/// Returns the command that stands behind `from =`, also if it stands in quotation marks.
fn command(value: &Expr, errors: &mut Errors) -> Option<Path> {
    if let Expr::Path(command) = value {
        return Some(command.path.clone());
    }
    let text = attribute::text_of(value)?;
    let command = text.parse().ok()?;
    errors.record(text, "a command has no quotation marks: remove them");
    Some(command)
}

/// Removes the commands that are named again, and records an error for each.
fn without_repeated(commands: Vec<Path>, errors: &mut Errors) -> Vec<Path> {
    let mut known = BTreeSet::new();
    let is_new = |command: &Path| {
        let text = command.to_token_stream().to_string();
        let is_new = known.insert(text.clone());
        if !is_new {
            let message = format!("`{text}` is given twice: remove one of them");
            errors.record(command, message);
        }
        is_new
    };
    commands.into_iter().filter(is_new).collect()
}
