//! Parses and checks the rules of a field.

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, LitStr, Meta, Path};

use super::{
    bound::{self, BoundTarget, Bounds},
    pattern,
};
use crate::codegen::{
    attribute::{self, SeenKeys},
    errors::Errors,
};

/// A rule of a field.
pub(crate) enum Rule {
    /// `text(min = 1, max = 500)`
    Text { min: Option<Expr>, max: Expr },
    /// `characters("0123456789-X")`
    Characters(LitStr),
    /// `pattern("^[0-9]+$")`
    Pattern(LitStr),
    /// `range(min = 1, max = 9)`, with at least one bound.
    Range {
        min: Option<Expr>,
        max: Option<Expr>,
    },
    /// `items(min = 1, max = 9)`, with at least one bound.
    Items {
        min: Option<Expr>,
        max: Option<Expr>,
    },
    /// `email`
    Email,
    /// `url`
    Url,
    /// `each(text(max = 20))`
    Each(Vec<Rule>),
    /// `with = is_sound`
    With(Path),
}

const RULES: [&str; 9] = [
    "text",
    "characters",
    "pattern",
    "range",
    "items",
    "email",
    "url",
    "each",
    "with",
];
/// The rules for one item of a list.
const RULES_OF_ITEMS: [&str; 7] = [
    "text",
    "characters",
    "pattern",
    "range",
    "email",
    "url",
    "with",
];

const TEXT: &str = "text(max = 500)";
const CHARACTERS: &str = "characters(\"0123456789\")";
const PATTERN: &str = "pattern(\"^[0-9]+$\")";
const RANGE: &str = "range(min = 1, max = 9)";
const ITEMS: &str = "items(min = 1, max = 9)";
const EACH: &str = "each(text(max = 20))";
const WITH: &str = "with = is_sound";

/// Parses all `#[validate(…)]` attributes of a field.
pub(crate) fn parse_rules(attrs: &[Attribute], errors: &mut Errors) -> Vec<Rule> {
    let mut keys = SeenKeys::new("validate", &RULES).called("rule");
    let mut rules = vec![];
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("validate")) {
        let (elements, is_whole) = attribute::parse_readable_elements(attr, errors);
        if is_whole && elements.is_empty() {
            let message = format!(
                "say which rule holds: write `#[validate({TEXT})]`, `#[validate({RANGE})]` or another one"
            );
            errors.record(attr, message);
        }
        for meta in elements {
            rules.extend(rule(&meta, &mut keys, errors));
        }
    }
    rules
}

fn rule(meta: &Meta, keys: &mut SeenKeys, errors: &mut Errors) -> Option<Rule> {
    match keys.recognize(meta, errors)? {
        "text" => text(meta, errors),
        "characters" => characters(meta, errors),
        "pattern" => {
            let pattern = quoted(meta, PATTERN, errors)?;
            pattern::check_pattern(&pattern, errors).then_some(Rule::Pattern(pattern))
        }
        "range" => {
            let Bounds { min, max } = ends(meta, RANGE_OF, errors)?;
            Some(Rule::Range { min, max })
        }
        "items" => {
            let Bounds { min, max } = ends(meta, ITEMS_OF, errors)?;
            Some(Rule::Items { min, max })
        }
        "email" => alone(meta, errors).then_some(Rule::Email),
        "url" => alone(meta, errors).then_some(Rule::Url),
        "each" => each(meta, errors),
        "with" => with(meta, errors),
        _ => None,
    }
}

/// Returns the contents of a rule's parentheses.
fn tokens(meta: &Meta, example: &str, errors: &mut Errors) -> Option<TokenStream> {
    match meta {
        Meta::List(list) => Some(list.tokens.clone()),
        Meta::Path(_) | Meta::NameValue(_) => {
            let name = attribute::key_name(meta);
            errors.record(meta, format!("`{name}` has arguments: write `{example}`"));
            None
        }
    }
}

fn arguments(meta: &Meta, example: &str, errors: &mut Errors) -> Option<Vec<Meta>> {
    let (arguments, is_whole) = attribute::parse_list(tokens(meta, example, errors)?, errors);
    is_whole.then_some(arguments)
}

fn text(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    const OF: BoundTarget = BoundTarget {
        attribute: "validate(text)",
        example: TEXT,
        is: "a length is a number of characters from 1, or a constant",
        least: Some(1),
    };
    let arguments = arguments(meta, TEXT, errors)?;
    let (Bounds { min, max }, keys) = bound::parse_bounds(meta, arguments, OF, errors)?;
    if !keys.contains("max") {
        let message = format!("a text has a greatest length: write `{TEXT}`");
        errors.record(meta, message);
    }
    Some(Rule::Text { min, max: max? })
}

const RANGE_OF: BoundTarget = BoundTarget {
    attribute: "validate(range)",
    example: RANGE,
    is: "an end of a range is a number or a constant",
    least: None,
};
const ITEMS_OF: BoundTarget = BoundTarget {
    attribute: "validate(items)",
    example: ITEMS,
    is: "items are counted: take a number from 0, or a constant",
    least: Some(0),
};

/// Parses two bounds, at least one of which has to be present.
fn ends(meta: &Meta, of: BoundTarget, errors: &mut Errors) -> Option<Bounds> {
    let arguments = arguments(meta, of.example, errors)?;
    let (bounds, keys) = bound::parse_bounds(meta, arguments, of, errors)?;
    if !keys.contains("min") && !keys.contains("max") {
        let name = attribute::key_name(meta);
        let message = format!("`{name}` has an end at least: write `{}`", of.example);
        errors.record(meta, message);
        return None;
    }
    Some(bounds)
}

/// Parses the string in a rule's parentheses.
fn quoted(meta: &Meta, example: &str, errors: &mut Errors) -> Option<LitStr> {
    let parsed = syn::parse2::<LitStr>(tokens(meta, example, errors)?).ok();
    let text = parsed.filter(|text| !text.value().is_empty());
    if text.is_none() {
        let name = attribute::key_name(meta);
        let message = format!("`{name}` has one text in quotation marks: write `{example}`");
        errors.record(meta, message);
    }
    text
}

fn characters(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    quoted(meta, CHARACTERS, errors).map(Rule::Characters)
}

fn alone(meta: &Meta, errors: &mut Errors) -> bool {
    let is_alone = matches!(meta, Meta::Path(_));
    if !is_alone {
        let name = attribute::key_name(meta);
        let message = format!("`{name}` has no arguments: write `{name}` alone");
        errors.record(meta, message);
    }
    is_alone
}

fn each(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    let mut keys = SeenKeys::new("validate(each)", &RULES_OF_ITEMS).called("rule");
    let arguments = arguments(meta, EACH, errors)?;
    if arguments.is_empty() {
        let message = format!("say which rule each item keeps: write `{EACH}`");
        errors.record(meta, message);
        return None;
    }
    let rules = arguments.iter().map(|meta| rule(meta, &mut keys, errors));
    rules.collect::<Option<_>>().map(Rule::Each)
}

fn with(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    let value = attribute::parse_value(meta, WITH, errors)?;
    match value {
        Expr::Path(path) => Some(Rule::With(path.path.clone())),
        _ => {
            let message = format!(
                "`with` names a function that takes a reference and returns a `Result<(), _>`: write `{WITH}`"
            );
            errors.record(value, message);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn messages(attr: Attribute) -> Vec<String> {
        let mut errors = Errors::default();
        parse_rules(&[attr], &mut errors);
        errors.messages()
    }

    #[test]
    fn rules_that_are_right_are_read() {
        for attr in [
            parse_quote!(#[validate(text(max = 500))]),
            parse_quote!(#[validate(text(min = 2, max = LONGEST), characters("a-z"))]),
            parse_quote!(#[validate(range(min = -1.5))]),
            parse_quote!(#[validate(range(min = limits::LOW, max = 9))]),
            parse_quote!(#[validate(items(max = 9), each(email, text(max = 99)))]),
            parse_quote!(#[validate(url, with = crate::is_sound, pattern("^[a-z]+$"))]),
        ] {
            assert_eq!(messages(attr), [""; 0]);
        }
    }

    #[test]
    fn each_mistake_has_its_message() {
        for (attr, message) in of_texts().into_iter().chain(of_others()) {
            assert_eq!(messages(attr), [message]);
        }
    }

    fn of_texts() -> Vec<(Attribute, &'static str)> {
        vec![
            (
                parse_quote!(#[validate(txt(max = 1))]),
                "`txt` is no rule of `#[validate]`: did you mean `text`?",
            ),
            (
                parse_quote!(#[validate(text)]),
                "`text` has arguments: write `text(max = 500)`",
            ),
            (
                parse_quote!(#[validate(text())]),
                "a text has a greatest length: write `text(max = 500)`",
            ),
            (
                parse_quote!(#[validate(text(max = 0))]),
                "a length is a number of characters from 1, or a constant: write `text(max = 500)`",
            ),
            (
                parse_quote!(#[validate(text(min = 9, max = 8))]),
                "nothing is at least 9 and at most 8: exchange the ends",
            ),
            (
                parse_quote!(#[validate(characters(9))]),
                "`characters` has one text in quotation marks: write `characters(\"0123456789\")`",
            ),
        ]
    }

    fn of_others() -> Vec<(Attribute, &'static str)> {
        vec![
            (
                parse_quote!(#[validate(range())]),
                "`range` has an end at least: write `range(min = 1, max = 9)`",
            ),
            (
                parse_quote!(#[validate(range(min = 2, max = 1))]),
                "nothing is at least 2 and at most 1: exchange the ends",
            ),
            (
                parse_quote!(#[validate(range(min = "1"))]),
                "an end of a range is a number or a constant: write `range(min = 1, max = 9)`",
            ),
            (
                parse_quote!(#[validate(items(max = -1))]),
                "items are counted: take a number from 0, or a constant: write `items(min = 1, max = 9)`",
            ),
            (
                parse_quote!(#[validate(pattern("^[0-9"))]),
                "this is no pattern: unclosed character class",
            ),
            (
                parse_quote!(#[validate(email(strict))]),
                "`email` has no arguments: write `email` alone",
            ),
            (
                parse_quote!(#[validate(each())]),
                "say which rule each item keeps: write `each(text(max = 20))`",
            ),
            (
                parse_quote!(#[validate(each(items(max = 1)))]),
                "`items` is no rule of `#[validate(each)]`: the rules are `text`, `characters`, `pattern`, `range`, `email`, `url` and `with`",
            ),
            (
                parse_quote!(#[validate(with = "is_sound")]),
                "`with` names a function that takes a reference and returns a `Result<(), _>`: write `with = is_sound`",
            ),
            (
                parse_quote!(#[validate(with)]),
                "`with` has a value: write `with = is_sound`",
            ),
            (
                parse_quote!(#[validate()]),
                "say which rule holds: write `#[validate(text(max = 500))]`, `#[validate(range(min = 1, max = 9))]` or another one",
            ),
        ]
    }
}
