//! `#[key(…)]` and `#[each(…)]` above the functions of a projection.

use proc_macro2::Span;
use syn::{
    Attribute, Ident, Meta, Token,
    parse::{ParseStream, Parser as _},
    punctuated::Punctuated,
};

use crate::codegen::errors::Errors;

/// The attributes above one function.
#[derive(Default)]
pub(crate) struct StepAttributes {
    /// The fields that are the key of the row; empty without `#[key(…)]`.
    pub(crate) key: Vec<KeyField>,
    /// The field of the event with a list of elements, each of which changes a row.
    pub(crate) list: Option<Ident>,
}

/// A field of a key: `day`, `event.doctor`, or `element` for a whole element.
pub(crate) struct KeyField {
    pub(crate) source: KeySource,
    /// The field, or the word `element`.
    pub(crate) name: Ident,
}

/// The value that has a field of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeySource {
    Event,
    Element,
    /// The whole element is the field of the key.
    WholeElement,
}

impl KeyField {
    /// Returns the key of a row whose key is the element at this place.
    pub(crate) fn whole_element(span: Span) -> Self {
        Self {
            source: KeySource::WholeElement,
            name: Ident::new("element", span),
        }
    }
}

const KEY: &str = "name the field of the event that is the key of its row: write `#[key(book)]`, or `#[key(doctor, day)]` for a key of two fields";
const KEY_OF_EACH: &str = "name the field of the element that is the key of its row: write `#[key(number)]`; for a key of two fields, write `#[key(event.hall, number)]` or `#[key(event.hall, element)]`";
const LIST: &str = "name the field of the event with the list: write `#[each(books)]`";

/// Parses the attributes above one function.
pub(crate) fn parse_step_attributes(attrs: &[Attribute], errors: &mut Errors) -> StepAttributes {
    let one_key = "a row has one key: name all of its fields in one `#[key(…)]`";
    let key = find_only(attrs, "key", one_key, errors);
    let one_list = "a function takes the elements of one list: remove this `#[each(…)]`";
    let list = find_only(attrs, "each", one_list, errors);
    StepAttributes {
        key: key.map_or_else(Vec::new, |key| parse_key(key, list.is_some(), errors)),
        list: list.and_then(|list| parse_list(list, errors)),
    }
}

fn find_only<'a>(
    attrs: &'a [Attribute],
    name: &str,
    twice: &str,
    errors: &mut Errors,
) -> Option<&'a Attribute> {
    let mut own = attrs.iter().filter(|attr| attr.path().is_ident(name));
    let first = own.next();
    if let Some(second) = own.next() {
        errors.record(second, twice);
    }
    first
}

/// Parses the name of the field with the list.
fn parse_list(attr: &Attribute, errors: &mut Errors) -> Option<Ident> {
    let field = match &attr.meta {
        Meta::List(list) => syn::parse2::<Ident>(list.tokens.clone()).ok(),
        Meta::Path(_) | Meta::NameValue(_) => None,
    };
    if field.is_none() {
        errors.record(attr, LIST);
    }
    field
}

/// Parses the fields of a key.
fn parse_key(attr: &Attribute, has_list: bool, errors: &mut Errors) -> Vec<KeyField> {
    let names: fn(ParseStream<'_>) -> _ = Punctuated::<Ident, Token![.]>::parse_separated_nonempty;
    let parser =
        |input: ParseStream<'_>| Punctuated::<_, Token![,]>::parse_terminated_with(input, names);
    let written = match &attr.meta {
        Meta::List(list) => parser.parse2(list.tokens.clone()).unwrap_or_default(),
        Meta::Path(_) | Meta::NameValue(_) => Punctuated::new(),
    };
    let is_alone = written.len() == 1;
    let names_of_fields = written.into_iter();
    let fields =
        names_of_fields.map(|names| key_field(names.into_iter().collect(), has_list, is_alone));
    match fields.collect::<Option<Vec<_>>>() {
        Some(fields) if !fields.is_empty() => fields,
        _ => {
            errors.record(attr, if has_list { KEY_OF_EACH } else { KEY });
            Vec::new()
        }
    }
}

fn key_field(names: Vec<Ident>, has_list: bool, is_alone: bool) -> Option<KeyField> {
    let mut names = names.into_iter();
    let (first, second) = (names.next()?, names.next());
    if names.next().is_some() {
        return None;
    }
    let (source, name) = match second {
        None if !has_list => (KeySource::Event, first),
        None if first == "element" && !is_alone => (KeySource::WholeElement, first),
        None => (KeySource::Element, first),
        Some(name) if has_list && first == "event" => (KeySource::Event, name),
        Some(name) if has_list && first == "element" => (KeySource::Element, name),
        Some(_) => return None,
    };
    Some(KeyField { source, name })
}
