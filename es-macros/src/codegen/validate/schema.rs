//! Generates the JSON schema of a field's rules.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Expr, parse_quote};

use super::{bound::parse_integer_literal, pattern, rule::Rule};
use crate::codegen::framework::Framework;

/// Returns the rules as a schemars attribute.
pub(crate) fn constraints(rules: &[Rule], framework: &Framework) -> Option<Attribute> {
    let mut words = words(rules, framework);
    let mut patterns = patterns(rules).into_iter();
    words.extend(patterns.next().map(|first| quote!(regex(pattern = #first))));
    // A schema has at most one pattern, so further patterns become subschemas.
    let others: Vec<_> = patterns
        .map(|other| quote!({ "pattern": #other }))
        .collect();
    if !others.is_empty() {
        words.push(quote!(extend("allOf" = [#(#others),*])));
    }
    for rule in rules {
        if let Rule::Each(rules) = rule {
            let mut inner = self::words(rules, framework);
            // The schema of an item has room for one pattern. The validation checks the others.
            let first = self::patterns(rules).into_iter().next();
            inner.extend(first.map(|first| quote!(regex(pattern = #first))));
            words.push(quote!(inner(#(#inner),*)));
        }
    }
    (!words.is_empty()).then(|| parse_quote!(#[schemars(#(#words),*)]))
}

fn words(rules: &[Rule], framework: &Framework) -> Vec<TokenStream> {
    let has_length = rules.iter().any(|rule| matches!(rule, Rule::Text { .. }));
    let mut words = vec![];
    for rule in rules {
        match rule {
            Rule::Text { min, max } => {
                let min = min.as_ref().map_or_else(|| quote!(1), |min| quote!(#min));
                words.push(quote!(length(min = #min, max = #max)));
            }
            Rule::Range { min, max } => {
                let min = min.as_ref().map(typed_bound).map(|min| quote!(min = #min,));
                let max = max.as_ref().map(typed_bound).map(|max| quote!(max = #max,));
                words.push(quote!(range(#min #max)));
            }
            Rule::Items { min, max } => {
                let min = min.as_ref().map(|min| quote!(min = #min,));
                let max = max.as_ref().map(|max| quote!(max = #max,));
                words.push(quote!(length(#min #max)));
            }
            Rule::Email => words.push(quote!(email)),
            Rule::Url => {
                words.push(quote!(url));
                if !has_length {
                    let longest = quote!(#framework::validate::rules::LONGEST_URL);
                    words.push(quote!(length(max = #longest)));
                }
            }
            Rule::Characters(_) | Rule::Pattern(_) | Rule::Each(_) | Rule::With(_) => {}
        }
    }
    words
}

/// Returns a bound with its type, if it is a literal that the schema would take for a too large `i32`.
fn typed_bound(bound: &Expr) -> TokenStream {
    let large = parse_integer_literal(bound).filter(|number| i32::try_from(*number).is_err());
    match large.map(|number| (i64::try_from(number), u64::try_from(number))) {
        Some((Ok(number), _)) => quote!(#number),
        Some((_, Ok(number))) => quote!(#number),
        Some(_) | None => quote!(#bound),
    }
}

/// Returns the patterns that a text has to match, those of the application first.
fn patterns(rules: &[Rule]) -> Vec<String> {
    let is_text = rules.iter().any(|rule| matches!(rule, Rule::Text { .. }));
    let mut patterns = vec![];
    let mut says_something = false;
    for rule in rules {
        match rule {
            Rule::Pattern(own) => patterns.push(own.value()),
            Rule::Characters(allowed) => {
                says_something = true;
                patterns.push(pattern::characters_pattern(&allowed.value(), is_text));
            }
            Rule::Url => {
                says_something = true;
                patterns.push(pattern::url_pattern());
            }
            // The format allows neither white space nor control characters.
            Rule::Email => says_something = true,
            _ => {}
        }
    }
    if is_text && !says_something {
        patterns.push(pattern::text_pattern());
    }
    patterns
}
