//! Parses the parameters of a handler besides its command.

use quote::ToTokens as _;
use syn::{Attribute, LitStr, Meta, Pat, PatType, Token, Type, TypeReference, parse::ParseStream};

use crate::codegen::{
    errors::Errors,
    naming,
    parameters::FunctionKind,
    template::{self, Template},
    types,
};

/// A parameter besides the command: a state, a service, a setting or the metadata.
pub(crate) struct InjectedParameter {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) is_optional: bool,
    pub(crate) subject: Option<(LitStr, Template)>,
    pub(crate) is_recursive: bool,
}

impl InjectedParameter {
    /// Returns true if only a state can be taken like this: it may be missing, or it has a subject.
    pub(crate) const fn is_surely_state(&self) -> bool {
        self.is_optional || self.subject.is_some() || self.is_recursive
    }
}

/// Parses a parameter that is a reference or an `Option` of a reference.
pub(crate) fn parse_parameter(
    parameter: &PatType,
    errors: &mut Errors,
) -> Option<InjectedParameter> {
    let (reference, is_optional) = match &*parameter.ty {
        Type::Reference(reference) => (reference, false),
        other => match types::inside_option(other)? {
            Type::Reference(reference) => (reference, true),
            _ => return None,
        },
    };
    check_reference(reference, errors);
    let StateSubject {
        subject,
        is_recursive,
    } = read_where(&parameter.attrs, errors);
    Some(InjectedParameter {
        name: name(&parameter.pat),
        ty: (*reference.elem).clone(),
        is_optional,
        subject,
        is_recursive,
    })
}

fn check_reference(reference: &TypeReference, errors: &mut Errors) {
    if let Some(mutability) = &reference.mutability {
        errors.record(
            mutability,
            "a handler decides and changes nothing: its events do that, so remove `mut`",
        );
    }
    let referred = &*reference.elem;
    if let Some(Type::Path(inside)) = types::inside_option(referred) {
        let inside = inside.to_token_stream();
        errors.record(
            reference,
            format!("what may be missing is an `Option` of a reference: write `Option<&{inside}>`"),
        );
    } else if !matches!(referred, Type::Path(_))
        || types::last_word(referred).as_deref() == Some("str")
    {
        errors.record(
            reference,
            format!(
                "{}; everything else stands in the command",
                FunctionKind::Handler.allowed()
            ),
        );
    }
}

/// Returns the name that a pattern binds, without leading underscores, or `_` if it binds no single name.
fn name(pat: &Pat) -> String {
    match pat {
        Pat::Ident(ident) => ident.ident.to_string().trim_start_matches('_').to_owned(),
        _ => "_".to_owned(),
    }
}

/// The subject from which a state is rebuilt.
#[derive(Default)]
struct StateSubject {
    subject: Option<(LitStr, Template)>,
    is_recursive: bool,
}

const EXAMPLE: &str = "write `#[subject(\"/readers/{reader}\")]`, with `recursive` behind a comma if the subjects below belong to it";

/// Parses `#[subject(…)]`. Records an error for other attributes.
fn read_where(attrs: &[Attribute], errors: &mut Errors) -> StateSubject {
    let mut found = StateSubject::default();
    let mut is_first = true;
    for attr in attrs {
        if !attr.path().is_ident("subject") {
            errors.record(
                attr,
                "a handler's parameter has no attribute but `#[subject(…)]`: remove this one",
            );
            continue;
        }
        if !std::mem::take(&mut is_first) {
            errors.record(attr, "a state is rebuilt from one subject: remove this one");
            continue;
        }
        match &attr.meta {
            Meta::List(list) if !list.tokens.is_empty() => {
                let mut text = None;
                match list.parse_args_with(|input: ParseStream<'_>| parse_where(input, &mut text)) {
                    Ok(is_recursive) => found.is_recursive = is_recursive,
                    Err(error) => {
                        let message = format!("{error}: {EXAMPLE}");
                        errors.record_parse_error(syn::Error::new(error.span(), message));
                    }
                }
                found.subject = text.and_then(|text| parse_template(text, errors));
            }
            _ => {
                errors.record(
                    attr,
                    format!("say which subject the state is rebuilt from: {EXAMPLE}"),
                );
            }
        }
    }
    found
}

/// Parses a string, which it puts into `text`, the word `recursive`, or both. Returns true for the word.
fn parse_where(input: ParseStream<'_>, text: &mut Option<LitStr>) -> syn::Result<bool> {
    if input.peek(LitStr) {
        *text = Some(input.parse()?);
        if input.is_empty() {
            return Ok(false);
        }
        input.parse::<Token![,]>()?;
        if input.is_empty() {
            return Ok(false);
        }
    }
    let word: syn::Ident = input.parse()?;
    if word != "recursive" {
        return Err(syn::Error::new(
            word.span(),
            format!("`{word}` is no word that stands here"),
        ));
    }
    input.parse::<Option<Token![,]>>()?;
    Ok(true)
}

fn parse_template(text: LitStr, errors: &mut Errors) -> Option<(LitStr, Template)> {
    let template = Template::parse_or_record(
        &text.value(),
        template::TemplateKind::Subject,
        &text,
        errors,
    )?;
    let is_name = |field: &&str| naming::field_ident(field).is_some();
    if let Some(field) = template.fields().find(|field| !is_name(field)) {
        errors.record(
            &text,
            format!("`{field}` is no name of a field: write one of the command's, as in `{{id}}`"),
        );
        return None;
    }
    Some((text, template))
}
