//! Parses `#[reaction(…)]`, and `#[deadline(…)]` above functions.

use proc_macro2::TokenStream;
use syn::{
    Attribute, Ident, LitInt, LitStr, Meta, Path, Token, parse::Parser as _, punctuated::Punctuated,
};

use crate::codegen::{
    attribute::{self, AttributeKeys},
    errors::Errors,
};

/// The keys of `#[reaction(…)]`.
#[derive(Default)]
pub(crate) struct ReactionAttr {
    pub(crate) name: Option<LitStr>,
    pub(crate) begin: Option<Ident>,
    pub(crate) attempts: Option<LitInt>,
    /// True if the reaction may start itself.
    pub(crate) repeats: bool,
}

/// The keys of `#[deadline(…)]`.
pub(crate) struct DeadlineAttr {
    /// The field of the event that contains the time.
    pub(crate) at: Ident,
    /// The events that cancel the deadline.
    pub(crate) unless: Vec<Path>,
}

/// Parses the arguments of `#[reaction]`.
pub(crate) fn parse_arguments(arguments: TokenStream, errors: &mut Errors) -> ReactionAttr {
    let mut keys = AttributeKeys::new("reaction", &["name", "begin", "attempts", "repeats"]);
    let mut read = ReactionAttr::default();
    for meta in attribute::parse_list(arguments, errors).unwrap_or_default() {
        match keys.recognize(&meta, errors) {
            Some("name") => {
                read.name = attribute::parse_text(&meta, "name = \"LoanReminder\"", errors);
            }
            Some("begin") => {
                read.begin = attribute::parse_word(&meta, "begin = new", errors).cloned();
            }
            Some("attempts") => read.attempts = attempts(&meta, errors),
            Some("repeats") => {
                attribute::check_flag(&meta, errors);
                read.repeats = true;
            }
            _ => {}
        }
    }
    read
}

fn attempts(meta: &Meta, errors: &mut Errors) -> Option<LitInt> {
    let number = attribute::parse_number(meta, "attempts = 16", errors)?;
    let attempts = number.base10_parse::<u32>();
    if attempts.is_ok_and(|attempts| (1..=10_000).contains(&attempts)) {
        return Some(number);
    }
    let message = "`attempts` is a whole number from 1 to 10,000: write `attempts = 16`";
    errors.record(number, message);
    None
}

const EXAMPLE: &str = "#[deadline(at = due_at, unless(BookReturnedEvent))]";

/// Parses `#[deadline(…)]`, which stands above a function.
pub(crate) fn parse_deadline_attribute(
    attr: &Attribute,
    errors: &mut Errors,
) -> Option<DeadlineAttr> {
    let mut keys = AttributeKeys::new("deadline", &["at", "unless"]);
    let (mut at, mut unless) = (None, Vec::new());
    let elements = attribute::parse_elements(attr, errors)?;
    for meta in elements {
        match keys.recognize(&meta, errors) {
            Some("at") => at = attribute::parse_word(&meta, "at = due_at", errors).cloned(),
            Some("unless") => unless = events(&meta, errors),
            _ => {}
        }
    }
    if !keys.contains("at") {
        let message = format!("say which field of the event holds the time: write `{EXAMPLE}`");
        errors.record(attr, message);
    }
    let at = at?;
    Some(DeadlineAttr { at, unless })
}

fn events(meta: &Meta, errors: &mut Errors) -> Vec<Path> {
    let parser = Punctuated::<Path, Token![,]>::parse_terminated;
    let events = match meta {
        Meta::List(list) => parser.parse2(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    let events: Vec<_> = events.into_iter().flatten().collect();
    if events.is_empty() {
        let message = "name the events after which nothing is due any more: write `unless(BookReturnedEvent)`, or leave it out";
        errors.record(meta, message);
    }
    events
}
