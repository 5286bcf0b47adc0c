//! Parses `#[reaction(…)]`, and `#[deadline(…)]` above functions.

use proc_macro2::TokenStream;
use syn::{
    Attribute, BinOp, Expr, ExprLit, Ident, Lit, LitInt, LitStr, Meta, Path, Token,
    parse::Parser as _, punctuated::Punctuated,
};

use crate::codegen::{
    attribute::{self, SeenKeys},
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
    /// The seconds from that time to the deadline, negative before it.
    pub(crate) offset: i64,
    /// The events that cancel the deadline.
    pub(crate) unless: Vec<Path>,
}

/// Parses the arguments of `#[reaction]`.
pub(crate) fn parse_arguments(arguments: TokenStream, errors: &mut Errors) -> ReactionAttr {
    let mut keys = SeenKeys::new("reaction", &["name", "begin", "attempts", "repeats"]);
    let mut read = ReactionAttr::default();
    for meta in attribute::parse_list(arguments, errors).0 {
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
    let mut keys = SeenKeys::new("deadline", &["at", "unless"]);
    let (mut at, mut unless) = (None, Vec::new());
    keys.visit_keys(std::slice::from_ref(attr), errors, |key, meta, errors| {
        if key == "at" {
            at = parse_time(meta, errors);
        } else {
            unless = events(meta, errors);
        }
    });
    if !keys.contains("at") {
        let message = format!("say which field of the event holds the time: write `{EXAMPLE}`");
        errors.record(attr, message);
    }
    let (at, offset) = at?;
    Some(DeadlineAttr { at, offset, unless })
}

/// The units of a length of time, with their seconds.
const UNITS: [(&str, i64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

/// Parses `due_at` or `due_at - 24h`: the field and the seconds from its time to the deadline.
fn parse_time(meta: &Meta, errors: &mut Errors) -> Option<(Ident, i64)> {
    let value = match meta {
        Meta::NameValue(meta) => attribute::ungrouped(&meta.value),
        _ => return parse_field(meta, errors),
    };
    let Expr::Binary(binary) = value else {
        return parse_field(meta, errors);
    };
    let sign = match binary.op {
        BinOp::Add(_) => 1,
        BinOp::Sub(_) => -1,
        _ => 0,
    };
    let field = attribute::word_of(&binary.left);
    let seconds = parse_seconds(&binary.right).and_then(|seconds| seconds.checked_mul(sign));
    let parsed = field.zip(seconds.filter(|seconds| *seconds != 0));
    if parsed.is_none() {
        let message = "a deadline is a field of the event, perhaps with a length of time in days, hours, minutes or seconds: write `at = due_at`, `at = starts_at - 24h` or `at = ends_at + 7d`";
        errors.record(value, message);
    }
    parsed.map(|(field, seconds)| (field.clone(), seconds))
}

fn parse_field(meta: &Meta, errors: &mut Errors) -> Option<(Ident, i64)> {
    let field = attribute::parse_word(meta, "at = due_at", errors);
    field.map(|field| (field.clone(), 0))
}

/// Returns the seconds of a length of time such as `24h`.
fn parse_seconds(value: &Expr) -> Option<i64> {
    let Expr::Lit(ExprLit {
        lit: Lit::Int(number),
        ..
    }) = value
    else {
        return None;
    };
    let (_, unit) = UNITS.iter().find(|(unit, _)| *unit == number.suffix())?;
    number.base10_parse::<i64>().ok()?.checked_mul(*unit)
}

fn events(meta: &Meta, errors: &mut Errors) -> Vec<Path> {
    let parser = Punctuated::<Path, Token![,]>::parse_terminated;
    let paths = match meta {
        Meta::List(list) => parser.parse2(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    let events: Vec<_> = paths.into_iter().flatten().collect();
    if events.is_empty() {
        let message = "name the events after which nothing is due any more: write `unless(BookReturnedEvent)`, or leave it out";
        errors.record(meta, message);
    }
    events
}
