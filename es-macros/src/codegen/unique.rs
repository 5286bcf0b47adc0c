//! Unique values: `#[unique("reader-card", ignore_case)]` on a field of an event, and `releases("reader-card")`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Attribute, Data, DeriveInput, LitStr, Meta, Token, parse::ParseStream, punctuated::Punctuated,
    spanned::Spanned as _,
};

use super::{
    attribute::{self, SeenKeys},
    errors::Errors,
    fields::{self, Field},
    framework::Framework,
    personal,
};

const NAME: &str = "unique";
const KEYS: [&str; 5] = ["ignore_case", "trim", "nfc", "nfkc", "keep_after_erasure"];
const EXAMPLE: &str = "write `#[unique(\"reader-card\")]`";
/// The longest name of a rule. It is a segment of a subject.
const MAX_LENGTH: usize = 64;

/// The rules about unique values of an event.
#[derive(Default)]
pub(crate) struct UniqueRules {
    fields: Vec<UniqueField>,
    releases: Vec<LitStr>,
}

/// A field with `#[unique(…)]`.
struct UniqueField {
    /// The position among the fields of the event.
    index: usize,
    rule: LitStr,
    /// The words after the name, in the order of their declaration here.
    words: Vec<&'static str>,
}

/// Records an error for each `#[unique(…)]` on an item that is no event.
pub(crate) fn reject_attributes(item: &DeriveInput, errors: &mut Errors) {
    let fields: Vec<_> = match &item.data {
        Data::Struct(data) => data.fields.iter().collect(),
        Data::Enum(data) => data.variants.iter().flat_map(|one| &one.fields).collect(),
        Data::Union(_) => vec![],
    };
    let on_fields = fields.into_iter().flat_map(|field| &field.attrs);
    let attrs = item.attrs.iter().chain(on_fields);
    let message = "`#[unique(…)]` stands above a field of an event, because the event is what claims the value";
    attribute::refuse(attrs, NAME, message, errors);
}

/// Parses and checks the rules of an event.
pub(crate) fn parse_rules(
    attrs: &[Attribute],
    fields: &[Field],
    releases: Vec<LitStr>,
    errors: &mut Errors,
) -> UniqueRules {
    let message = "`#[unique(…)]` stands above the field whose value is unique";
    attribute::refuse(attrs, NAME, message, errors);
    let mut rules = UniqueRules::default();
    for (index, field) in fields.iter().enumerate() {
        let mut attrs = attribute::named(&field.attrs, NAME);
        if let Some(attr) = attrs.next()
            && let Some((rule, words)) = parse_attribute(attr, errors)
        {
            check_words(&words, field, attr, errors);
            let first = rules
                .fields
                .iter()
                .find(|one| one.rule.value() == rule.value());
            if first.is_some_and(|first| first.words != words) {
                let message = format!(
                    "the fields under `{}` differ in the words after the name: one value cannot be compared in two ways",
                    rule.value()
                );
                errors.record(&rule, message);
            }
            rules.fields.push(UniqueField { index, rule, words });
        }
        if let Some(attr) = attrs.next() {
            errors.record(attr, "a field has one `#[unique(…)]`: remove this one");
        }
    }
    check_releases(&releases, &rules, errors);
    rules.releases = releases;
    rules
}

/// Parses the name of the rule and the words after it.
fn parse_attribute(attr: &Attribute, errors: &mut Errors) -> Option<(LitStr, Vec<&'static str>)> {
    let parser = |input: ParseStream<'_>| {
        let rule: LitStr = input.parse()?;
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
        Ok::<_, syn::Error>((rule, input.parse::<TokenStream>()?))
    };
    let Ok((rule, rest)) = attr.parse_args_with(parser) else {
        errors.record(attr, format!("the name of the rule comes first: {EXAMPLE}"));
        return None;
    };
    check_name(&rule, errors);
    let mut keys = SeenKeys::new("unique", &KEYS);
    let mut words = vec![];
    for meta in attribute::parse_list(rest, errors).0 {
        if let Some(key) = keys.recognize(&meta, errors) {
            attribute::check_flag(&meta, errors);
            words.push(key);
        }
    }
    words.sort_unstable();
    Some((rule, words))
}

fn check_words(words: &[&str], field: &Field, attr: &Attribute, errors: &mut Errors) {
    if words.contains(&"nfc") && words.contains(&"nfkc") {
        errors.record(attr, "a text has one form: remove `nfc` or `nfkc`");
    }
    if words.contains(&"keep_after_erasure") && !personal::is_personal(&field.attrs) {
        errors.record(
            attr,
            "the value is not personal, so that no erasure concerns it: remove `keep_after_erasure`",
        );
    }
}

fn check_name(rule: &LitStr, errors: &mut Errors) {
    let name = rule.value();
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.len() > MAX_LENGTH || !name.bytes().all(is_allowed) {
        let message = format!(
            "`{name}` is no name of a rule: write up to {MAX_LENGTH} lower-case letters, digits and `-`, such as `reader-card`"
        );
        errors.record(rule, message);
    }
}

fn check_releases(releases: &[LitStr], rules: &UniqueRules, errors: &mut Errors) {
    for (index, release) in releases.iter().enumerate() {
        let name = release.value();
        check_name(release, errors);
        if releases.iter().take(index).any(|one| one.value() == name) {
            errors.record(
                release,
                format!("`{name}` is given twice: remove one of them"),
            );
        }
        if rules.fields.iter().any(|field| field.rule.value() == name) {
            let message = format!(
                "the event has a field under `{name}`, whose value replaces the earlier one: remove the name from `releases`"
            );
            errors.record(release, message);
        }
    }
}

/// Parses `releases("reader-card")`.
pub(crate) fn parse_releases(meta: &Meta, errors: &mut Errors) -> Vec<LitStr> {
    let parser = Punctuated::<LitStr, Token![,]>::parse_terminated;
    let names = meta
        .require_list()
        .and_then(|list| list.parse_args_with(parser));
    match names {
        Ok(names) if !names.is_empty() => names.into_iter().collect(),
        _ => {
            errors.record(
                meta,
                "`releases` names the rules whose values are given up: write `releases(\"reader-card\")`",
            );
            vec![]
        }
    }
}

/// Generates the parts of `impl Event`, or nothing if the event has no rules.
pub(crate) fn expand_rules(
    rules: &UniqueRules,
    fields: &[Field],
    framework: &Framework,
) -> TokenStream {
    if rules.fields.is_empty() && rules.releases.is_empty() {
        return TokenStream::new();
    }
    let event = quote!(#framework::event);
    let unique = unique_fields(rules, fields);
    let described = unique.map(|(unique, field)| describe_field(unique, field, framework));
    let releases = &rules.releases;
    let values = (!rules.fields.is_empty()).then(|| expand_values(rules, fields, framework));
    quote! {
        const UNIQUE: #event::UniqueRules = #event::UniqueRules {
            fields: &[#(#described),*],
            releases: &[#(#releases),*],
        };

        #values
    }
}

/// Returns the unique fields with their attributes.
fn unique_fields<'a>(
    rules: &'a UniqueRules,
    fields: &'a [Field],
) -> impl Iterator<Item = (&'a UniqueField, &'a Field)> {
    let unique = rules.fields.iter();
    unique.filter_map(move |unique| Some((unique, fields.get(unique.index)?)))
}

fn describe_field(unique: &UniqueField, field: &Field, framework: &Framework) -> TokenStream {
    let event = quote!(#framework::event);
    let UniqueField { rule, words, .. } = unique;
    let member = &field.member;
    let [ignore_case, trim, nfc, nfkc, keep] =
        ["ignore_case", "trim", "nfc", "nfkc", "keep_after_erasure"]
            .map(|word| words.contains(&word));
    let form = if nfkc {
        quote!(::core::option::Option::Some(#event::UnicodeForm::Nfkc))
    } else if nfc {
        quote!(::core::option::Option::Some(#event::UnicodeForm::Nfc))
    } else {
        quote!(::core::option::Option::None)
    };
    quote! {
        #event::UniqueField {
            rule: #rule,
            member: #member,
            normalization: #event::UniqueNormalization {
                ignore_case: #ignore_case,
                trim: #trim,
                form: #form,
            },
            keep_after_erasure: #keep,
        }
    }
}

/// Returns the field that names the person of a personal field.
fn person_of<'a>(field: &Field, fields: &'a [Field]) -> Option<&'a Field> {
    let of = personal::person_field(&field.attrs)?;
    fields.iter().find(|other| other.ident == of)
}

/// Generates the function that returns the values. The compiler reports an unsuitable type at the field's type.
fn expand_values(rules: &UniqueRules, fields: &[Field], framework: &Framework) -> TokenStream {
    let event = quote!(#framework::event);
    let values = unique_fields(rules, fields).map(|(_, field)| {
        let variable = fields::variable_of(field);
        let span = field.ty.span();
        let spanned = framework.with_span(span);
        let text = quote_spanned!(span=> #spanned::event::UniqueText::unique_text(#variable));
        let person = match person_of(field, fields).map(fields::variable_of) {
            Some(person) => quote!(::core::option::Option::Some(*#person)),
            None => quote!(::core::option::Option::None),
        };
        quote!(#event::UniqueValue { text: #text, person: #person })
    });
    let is_used = |field: &&Field| {
        unique_fields(rules, fields).any(|(_, one)| {
            let person = person_of(one, fields);
            one.ident == field.ident || person.is_some_and(|person| person.ident == field.ident)
        })
    };
    let borrowed = fields::borrow_fields(fields.iter().filter(is_used));
    quote! {
        fn unique_values(&self) -> ::std::vec::Vec<#event::UniqueValue> {
            #borrowed
            ::std::vec![#(#values),*]
        }
    }
}
