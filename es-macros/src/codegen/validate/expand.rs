//! Generates the validation code of a field.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, Expr, Type, spanned::Spanned as _};

use super::{bound::parse_integer_literal, nested, rule::Rule};
use crate::codegen::{framework::Framework, serde_words, types};

/// The place of a value in the JSON object that is validated.
pub(crate) enum JsonPlace {
    /// The value is the JSON itself.
    Whole,
    /// The members of the value are some of the object's members.
    Part,
    /// The value is a member, which has the first of these names. The others are aliases.
    Member(Vec<String>),
}

impl JsonPlace {
    /// Returns the place of a field with this JSON name.
    pub(crate) fn of_member(name: String, attrs: &[Attribute]) -> Self {
        let mut names = vec![name];
        names.extend(serde_words::aliases(attrs));
        Self::Member(names)
    }
}

/// A value with rules, for which the macro generates a check.
pub(crate) struct ValueWithRules<'a> {
    /// The place of the value in the JSON.
    pub(crate) place: JsonPlace,
    /// A reference to the value. Its span is the place at which the compiler reports a rule for
    /// another type.
    pub(crate) value: TokenStream,
    pub(crate) ty: &'a Type,
    pub(crate) attrs: &'a [Attribute],
    pub(crate) rules: &'a [Rule],
}

/// Generates the statements that add violations. Returns nothing if there is nothing to check.
pub(crate) fn validation_statements(
    fields: &[ValueWithRules<'_>],
    framework: &Framework,
) -> Vec<TokenStream> {
    let mut looks_inside = false;
    let rules = fields.iter().flat_map(|field| field.rules);
    let mut statements: Vec<_> = rules.flat_map(Rule::bound_checks).collect();
    for field in fields {
        let rules = field.rules.iter();
        statements.extend(rules.map(|rule| field.check(rule, framework)));
        if matches!(field.place, JsonPlace::Part) {
            let part = nested::validate_part(field.ty, &field.value, framework);
            statements.push(field.nested(&part));
            continue;
        }
        let inside = nested::validate_inside(field.ty, &field.value, framework);
        if !inside.is_empty() {
            looks_inside = true;
            statements.push(field.nested(&inside));
        }
    }
    if looks_inside {
        statements.insert(0, nested::import_traits(framework));
    }
    statements
}

impl ValueWithRules<'_> {
    /// Generates the check of one rule.
    fn check(&self, rule: &Rule, framework: &Framework) -> TokenStream {
        // All tokens of the call have one span, so that one mistake causes one message.
        let span = self.ty.span();
        let at = framework.with_span(span);
        let rules = quote_spanned!(span=> #at::validate::rules);
        let value = &self.value;
        match rule {
            Rule::Each(each) => {
                let item = quote_spanned!(span=> value);
                let each = each.iter().map(|rule| {
                    let found = rule.call(&rules, &item, span);
                    let each = quote_spanned!(span=> each);
                    quote!(violations.#each(#value, |#item| #found);)
                });
                self.inside(&quote!(#(#each)*))
            }
            Rule::With(_) if types::last_word(self.ty).is_some_and(|name| name == "Option") => {
                let inner = quote_spanned!(span=> value);
                let found = self.note(&rule.call(&rules, &inner, span));
                quote_spanned! {span=>
                    if let ::core::option::Option::Some(#inner) = #value {
                        #found
                    }
                }
            }
            rule => self.note(&rule.call(&rules, value, span)),
        }
    }

    fn note(&self, found: &TokenStream) -> TokenStream {
        match &self.place {
            JsonPlace::Whole | JsonPlace::Part => quote!(violations.add(#found);),
            JsonPlace::Member(names) => match names.as_slice() {
                [name] => quote!(violations.check(#name, #found);),
                _ => self.inside(&quote!(violations.add(#found);)),
            },
        }
    }

    fn inside(&self, statements: &TokenStream) -> TokenStream {
        match &self.place {
            JsonPlace::Whole | JsonPlace::Part => statements.clone(),
            JsonPlace::Member(names) => match names.as_slice() {
                [name] => quote!(violations.check_member(#name, |violations| { #statements });),
                names => quote! {
                    violations.check_member_with_aliases(&[#(#names),*], |violations| { #statements });
                },
            },
        }
    }

    /// Generates the check of what is inside the value.
    fn nested(&self, statements: &TokenStream) -> TokenStream {
        if serde_words::is_converted(self.attrs) {
            return self.inside(&quote! {
                violations.check_converted(|violations| { #statements });
            });
        }
        self.inside(statements)
    }
}

impl Rule {
    /// Generates compile-time checks that `min` is not greater than `max`. The parser has compared
    /// whole numbers already, so these are for constants and fractions.
    fn bound_checks(&self) -> Vec<TokenStream> {
        let (min, max) = match self {
            Self::Text { min, max } => {
                let least = min.clone().unwrap_or_else(|| syn::parse_quote!(1));
                (Some(least), Some(max.clone()))
            }
            Self::Range { min, max } | Self::Items { min, max } => (min.clone(), max.clone()),
            Self::Each(rules) => return rules.iter().flat_map(Self::bound_checks).collect(),
            Self::Characters(_) | Self::Pattern(_) | Self::Email | Self::Url | Self::With(_) => {
                return vec![];
            }
        };
        let (Some(min), Some(max)) = (min, max) else {
            return vec![];
        };
        if parse_integer_literal(&min).is_some() && parse_integer_literal(&max).is_some() {
            return vec![];
        }
        let message = "no value satisfies this rule, because its `min` is greater than its `max`";
        vec![quote_spanned! {max.span()=>
            const _: () = ::core::assert!(#min <= #max, #message);
        }]
    }

    /// Generates the call that checks `value`, which is a reference.
    fn call(&self, rules: &TokenStream, value: &TokenStream, span: Span) -> TokenStream {
        let end = |end: &Option<Expr>| match end {
            Some(end) => quote_spanned!(span=> ::core::option::Option::Some(#end)),
            None => quote_spanned!(span=> ::core::option::Option::None),
        };
        match self {
            Self::Text { min, max } => {
                let min = min.as_ref().map_or_else(|| quote!(1), |min| quote!(#min));
                quote_spanned!(span=> #rules::text(#value, #min, #max))
            }
            Self::Characters(allowed) => {
                quote_spanned!(span=> #rules::characters(#value, #allowed))
            }
            Self::Pattern(pattern) => quote_spanned! {span=> {
                static PATTERN: #rules::Pattern = #rules::Pattern::new(#pattern);
                #rules::pattern(#value, &PATTERN)
            }},
            Self::Range { min, max } => {
                let (min, max) = (end(min), end(max));
                quote_spanned!(span=> #rules::range(#value, #min, #max))
            }
            Self::Items { min, max } => {
                let (min, max) = (end(min), end(max));
                quote_spanned!(span=> #rules::items(#value, #min, #max))
            }
            Self::Email => quote_spanned!(span=> #rules::email(#value)),
            Self::Url => quote_spanned!(span=> #rules::url(#value)),
            Self::With(path) => quote_spanned!(span=> #rules::convert_rule_result(#path(#value))),
            // This rule is not allowed inside a list. Elsewhere the field generates its code.
            Self::Each(_) => TokenStream::new(),
        }
    }
}
