//! `#[key(…)]` and `#[each(…)]` above the functions of a projection.

use proc_macro2::Span;
use syn::{
    Attribute, Ident, Meta, Path, Token,
    parse::{Parse, ParseStream, Parser as _},
    punctuated::Punctuated,
};

use crate::codegen::errors::Errors;

/// The attributes above one function.
pub(crate) struct StepAttributes {
    pub(crate) key: StepKey,
    /// The field of the event with a list of elements, each of which changes a row.
    pub(crate) list: Option<Ident>,
}

/// The place where an event has the key of the row that it changes.
pub(crate) enum StepKey {
    /// The subject of the event, because there is no `#[key(…)]`.
    Subject,
    /// The fields of the event or of the element: `#[key(doctor, day)]`.
    Fields(Vec<KeyField>),
    /// The result of a function: `#[key(with = month_of)]`.
    Function(Path),
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

const KEY: &str = "name the field of the event that is the key of its row: write `#[key(book)]`, `#[key(doctor, day)]` for a key of two fields, or `#[key(with = month_of)]` for a key that a function computes";
const KEY_OF_EACH: &str = "name the field of the element that is the key of its row: write `#[key(number)]`; for a key of two fields, write `#[key(event.hall, number)]` or `#[key(event.hall, element)]`; for a key that a function computes, write `#[key(with = month_of)]`";
const WHOLE_KEY: &str = "the function computes the whole key of the row: write `#[key(with = month_of)]` alone, and let it return a tuple for a key of several fields";
const LIST: &str = "name the field of the event with the list: write `#[each(books)]`";

/// Parses the attributes above one function.
pub(crate) fn parse_step_attributes(attrs: &[Attribute], errors: &mut Errors) -> StepAttributes {
    let one_key = "a row has one key: name all of its fields in one `#[key(…)]`";
    let key = find_only(attrs, "key", one_key, errors);
    let one_list = "a function takes the elements of one list: remove this `#[each(…)]`";
    let list = find_only(attrs, "each", one_list, errors);
    StepAttributes {
        key: key.map_or(StepKey::Subject, |key| {
            parse_key(key, list.is_some(), errors)
        }),
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

/// A part of `#[key(…)]`.
enum KeyPart {
    /// `day`, or `event.doctor`.
    Field(Vec<Ident>),
    /// `with = month_of`
    With(Ident, Path),
}

impl Parse for KeyPart {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek2(Token![=]) {
            let names = Punctuated::<Ident, Token![.]>::parse_separated_nonempty(input)?;
            return Ok(Self::Field(names.into_iter().collect()));
        }
        let word: Ident = input.parse()?;
        if word != "with" {
            return Err(input.error("expected `with`"));
        }
        input.parse::<Token![=]>()?;
        Ok(Self::With(word, input.parse()?))
    }
}

/// Parses the fields of a key, or the function that computes it.
fn parse_key(attr: &Attribute, has_list: bool, errors: &mut Errors) -> StepKey {
    let parser = Punctuated::<KeyPart, Token![,]>::parse_terminated;
    let parts = match &attr.meta {
        Meta::List(list) => parser.parse2(list.tokens.clone()).unwrap_or_default(),
        Meta::Path(_) | Meta::NameValue(_) => Punctuated::new(),
    };
    let is_alone = parts.len() == 1;
    let mut fields = Vec::new();
    for part in parts {
        match part {
            KeyPart::Field(names) => fields.push(key_field(names, has_list, is_alone)),
            KeyPart::With(_, path) if is_alone => return StepKey::Function(path),
            KeyPart::With(word, _) => {
                errors.record(word, WHOLE_KEY);
                return StepKey::Subject;
            }
        }
    }
    match fields.into_iter().collect::<Option<Vec<_>>>() {
        Some(fields) if !fields.is_empty() => StepKey::Fields(fields),
        _ => {
            errors.record(attr, if has_list { KEY_OF_EACH } else { KEY });
            StepKey::Subject
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
