//! What a handler takes besides its command.

use syn::{Attribute, LitStr, Meta, Pat, PatType, Token, Type, TypeReference, parse::ParseStream};

use super::ast;
use crate::codegen::{
    errors::Errors,
    template::{self, Template},
};

/// A parameter that is not the command.
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) is_optional: bool,
    pub(crate) subject: Option<(LitStr, Template)>,
    pub(crate) is_recursive: bool,
}

impl Parameter {
    /// Whether it can only be a state.
    pub(crate) fn is_state(&self) -> bool {
        self.is_optional || self.subject.is_some() || self.is_recursive
    }
}

/// Reads a parameter that is a reference, or an `Option` of one.
pub(crate) fn read(parameter: &PatType, errors: &mut Errors) -> Option<Parameter> {
    let (reference, is_optional) = match &*parameter.ty {
        Type::Reference(reference) => (reference, false),
        other => (ast::optional(other)?, true),
    };
    check_reference(reference, errors);
    let Where {
        subject,
        is_recursive,
    } = read_where(&parameter.attrs, errors);
    Some(Parameter {
        name: name(&parameter.pat),
        ty: (*reference.elem).clone(),
        is_optional,
        subject,
        is_recursive,
    })
}

fn check_reference(reference: &TypeReference, errors: &mut Errors) {
    if let Some(mutability) = &reference.mutability {
        errors.at(
            mutability,
            "a handler decides and changes nothing: its events do that, so remove `mut`",
        );
    }
}

/// The name without what a pattern has beside it.
fn name(pat: &Pat) -> String {
    match pat {
        Pat::Ident(ident) => ident.ident.to_string().trim_start_matches('_').to_owned(),
        _ => "_".to_owned(),
    }
}

/// Where a state is rebuilt from.
#[derive(Default)]
struct Where {
    subject: Option<(LitStr, Template)>,
    is_recursive: bool,
}

const EXAMPLE: &str = "write `#[subject(\"/readers/{reader}\")]`, with `recursive` behind a comma if the subjects below belong to it";

/// Reads `#[subject(…)]`; other attributes are noted.
fn read_where(attrs: &[Attribute], errors: &mut Errors) -> Where {
    let mut found = Where::default();
    let mut is_first = true;
    for attr in attrs {
        if !attr.path().is_ident("subject") {
            errors.at(
                attr,
                "a handler's parameter has no attribute but `#[subject(…)]`: remove this one",
            );
            continue;
        }
        if !std::mem::take(&mut is_first) {
            errors.at(attr, "a state is rebuilt from one subject: remove this one");
            continue;
        }
        match &attr.meta {
            Meta::List(list) => match list.parse_args_with(parse_where) {
                Ok((text, is_recursive)) => {
                    found.subject = text.and_then(|text| parse_template(text, errors));
                    found.is_recursive = is_recursive;
                }
                Err(error) => errors.at(attr, format!("{error}: {EXAMPLE}")),
            },
            Meta::Path(_) | Meta::NameValue(_) => {
                errors.at(
                    attr,
                    format!("say which subject the state is rebuilt from: {EXAMPLE}"),
                );
            }
        }
    }
    found
}

/// A text, the word `recursive`, or both.
fn parse_where(input: ParseStream<'_>) -> syn::Result<(Option<LitStr>, bool)> {
    if input.is_empty() {
        return Err(input.error("there is nothing between the parentheses"));
    }
    let mut text = None;
    if input.peek(LitStr) {
        text = Some(input.parse()?);
        if input.is_empty() {
            return Ok((text, false));
        }
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            return Ok((text, false));
        }
    }
    let word: syn::Ident = input.parse()?;
    if word != "recursive" {
        return Err(syn::Error::new(
            word.span(),
            format!("`{word}` is not known here"),
        ));
    }
    input.parse::<Option<Token![,]>>()?;
    Ok((text, true))
}

fn parse_template(text: LitStr, errors: &mut Errors) -> Option<(LitStr, Template)> {
    match Template::parse(&text.value(), template::Kind::Subject) {
        Ok(template) => Some((text, template)),
        Err(message) => {
            errors.at(&text, message);
            None
        }
    }
}
