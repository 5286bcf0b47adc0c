//! `#[validate(…)]` on a field: the rules that its value keeps.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Attribute, Expr, ExprLit, ExprUnary, Lit, LitStr, Meta, UnOp, spanned::Spanned as _};

use crate::codegen::{
    attribute::{self, Keys},
    errors::Errors,
};

/// A rule of a field.
pub(crate) enum Rule {
    /// `text(max = 500)`
    Text { max: Expr },
    /// `characters("0123456789-X")`
    Characters(LitStr),
    /// `range(min = 1, max = 9)`, one end at least.
    Range {
        min: Option<Expr>,
        max: Option<Expr>,
    },
}

const RULES: [&str; 3] = ["text", "characters", "range"];

const TEXT: &str = "text(max = 500)";
const CHARACTERS: &str = "characters(\"0123456789\")";
const RANGE: &str = "range(min = 1, max = 9)";

/// Reads every `#[validate(…)]` of a field.
pub(crate) fn read(attrs: &[Attribute], errors: &mut Errors) -> Vec<Rule> {
    let mut keys = Keys::new("validate", &RULES).called("rule");
    let mut rules = vec![];
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("validate")) {
        let elements = attribute::elements(attr, errors);
        if elements.as_ref().is_some_and(Vec::is_empty) {
            errors.at(attr, format!("say which rule holds: write `#[validate({TEXT})]`, `#[validate({CHARACTERS})]` or `#[validate({RANGE})]`"));
        }
        for meta in elements.unwrap_or_default() {
            rules.extend(match keys.recognize(&meta, errors) {
                Some("text") => text(&meta, errors),
                Some("characters") => characters(&meta, errors),
                Some("range") => range(&meta, errors),
                _ => None,
            });
        }
    }
    rules
}

/// What stands in the parentheses of a rule.
fn arguments(meta: &Meta, example: &str, errors: &mut Errors) -> Option<TokenStream> {
    match meta {
        Meta::List(list) => Some(list.tokens.clone()),
        Meta::Path(_) | Meta::NameValue(_) => {
            let name = attribute::name(meta);
            errors.at(meta, format!("`{name}` has arguments: write `{example}`"));
            None
        }
    }
}

fn text(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    let mut keys = Keys::new("validate(text)", &["max"]);
    let mut max = None;
    for argument in attribute::parse(arguments(meta, TEXT, errors)?, errors)? {
        if keys.recognize(&argument, errors).is_some() {
            max = Some(attribute::value(&argument, TEXT, errors)?.clone());
        }
    }
    let Some(max) = max else {
        if !keys.has("max") {
            errors.at(
                meta,
                format!("a text has a greatest length: write `{TEXT}`"),
            );
        }
        return None;
    };
    if is_number(&max) && whole(&max).is_some_and(|max| max >= 1) || is_constant(&max) {
        return Some(Rule::Text { max });
    }
    let message =
        "the greatest length is a number of characters from 1, or a constant: write `max = 500`";
    errors.at(max, message);
    None
}

fn characters(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    let tokens = arguments(meta, CHARACTERS, errors)?;
    match syn::parse2::<LitStr>(tokens) {
        Ok(allowed) if !allowed.value().is_empty() => Some(Rule::Characters(allowed)),
        _ => {
            let message = format!("list the characters in quotation marks: write `{CHARACTERS}`");
            errors.at(meta, message);
            None
        }
    }
}

fn range(meta: &Meta, errors: &mut Errors) -> Option<Rule> {
    let mut keys = Keys::new("validate(range)", &["min", "max"]);
    let (mut min, mut max) = (None, None);
    for argument in attribute::parse(arguments(meta, RANGE, errors)?, errors)? {
        match keys.recognize(&argument, errors) {
            Some("min") => min = number(&argument, errors),
            Some("max") => max = number(&argument, errors),
            _ => {}
        }
    }
    if !keys.has("min") && !keys.has("max") {
        errors.at(
            meta,
            format!("a range has an end at least: write `{RANGE}`"),
        );
    }
    if let (Some(min), Some(max)) = (min.as_ref().and_then(whole), max.as_ref().and_then(whole))
        && min > max
    {
        let message = format!("no number is at least {min} and at most {max}: exchange the ends");
        errors.at(meta, message);
    }
    Some(Rule::Range { min, max })
}

fn number(argument: &Meta, errors: &mut Errors) -> Option<Expr> {
    let value = attribute::value(argument, RANGE, errors)?;
    if is_number(value) || is_constant(value) {
        return Some(value.clone());
    }
    let message = format!("an end of a range is a number or a constant: write `{RANGE}`");
    errors.at(value, message);
    None
}

fn is_number(value: &Expr) -> bool {
    match value {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => is_number(expr),
        Expr::Lit(literal) => matches!(literal.lit, Lit::Int(_) | Lit::Float(_)),
        _ => false,
    }
}

fn is_constant(value: &Expr) -> bool {
    matches!(value, Expr::Path(_))
}

/// The value of a whole number that is written out.
fn whole(value: &Expr) -> Option<i128> {
    match value {
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => whole(expr)?.checked_neg(),
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) => number.base10_parse().ok(),
        _ => None,
    }
}

impl Rule {
    /// The call that checks `value`, a reference to the field.
    pub(crate) fn call(&self, rules: &TokenStream, value: &TokenStream) -> TokenStream {
        // All of the call is at one place, so that one mistake there is one message.
        let span = value.span();
        let end = |end: &Option<Expr>| match end {
            Some(end) => quote_spanned!(span=> ::core::option::Option::Some(#end)),
            None => quote_spanned!(span=> ::core::option::Option::None),
        };
        match self {
            Self::Text { max } => quote_spanned!(span=> #rules::text(#value, #max)),
            Self::Characters(allowed) => {
                quote_spanned!(span=> #rules::characters(#value, #allowed))
            }
            Self::Range { min, max } => {
                let (min, max) = (end(min), end(max));
                quote_spanned!(span=> #rules::range(#value, #min, #max))
            }
        }
    }

    /// The same in words of schemars, so that the rule is part of the schema.
    pub(crate) fn constraint(&self) -> TokenStream {
        match self {
            Self::Text { max } => quote!(length(min = 1, max = #max)),
            Self::Characters(allowed) => {
                let pattern = pattern(&allowed.value());
                quote!(regex(pattern = #pattern))
            }
            Self::Range { min, max } => {
                let min = min.as_ref().map(|min| quote!(min = #min,));
                let max = max.as_ref().map(|max| quote!(max = #max,));
                quote!(range(#min #max))
            }
        }
    }
}

/// The pattern (ECMA-262, as JSON Schema has it) of texts that hold only these characters.
fn pattern(allowed: &str) -> String {
    let mut pattern = String::from("^[");
    for character in allowed.chars() {
        if matches!(character, '\\' | ']' | '[' | '^' | '-') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push_str("]*$");
    pattern
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn messages(attr: Attribute) -> Vec<String> {
        let mut errors = Errors::default();
        read(&[attr], &mut errors);
        errors.messages()
    }

    #[test]
    fn rules_that_are_right_are_read() {
        for attr in [
            parse_quote!(#[validate(text(max = 500))]),
            parse_quote!(#[validate(text(max = LONGEST), characters("a-z"))]),
            parse_quote!(#[validate(range(min = -1.5))]),
            parse_quote!(#[validate(range(min = limits::LOW, max = 9))]),
        ] {
            assert_eq!(messages(attr), [""; 0]);
        }
    }

    #[test]
    fn each_mistake_has_its_message() {
        let cases: [(Attribute, &str); 9] = [
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
                "the greatest length is a number of characters from 1, or a constant: write `max = 500`",
            ),
            (
                parse_quote!(#[validate(characters(9))]),
                "list the characters in quotation marks: write `characters(\"0123456789\")`",
            ),
            (
                parse_quote!(#[validate(range())]),
                "a range has an end at least: write `range(min = 1, max = 9)`",
            ),
            (
                parse_quote!(#[validate(range(min = 2, max = 1))]),
                "no number is at least 2 and at most 1: exchange the ends",
            ),
            (
                parse_quote!(#[validate(range(min = "1"))]),
                "an end of a range is a number or a constant: write `range(min = 1, max = 9)`",
            ),
            (
                parse_quote!(#[validate()]),
                "say which rule holds: write `#[validate(text(max = 500))]`, `#[validate(characters(\"0123456789\"))]` or `#[validate(range(min = 1, max = 9))]`",
            ),
        ];
        for (attr, message) in cases {
            assert_eq!(messages(attr), [message]);
        }
    }

    #[test]
    fn characters_become_a_pattern() {
        assert_eq!(pattern("0-9]"), r"^[0\-9\]]*$");
    }
}
