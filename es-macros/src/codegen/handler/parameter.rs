//! Parses the parameters of a handler besides its command.

use quote::ToTokens as _;
use syn::{
    Ident, LitStr, Meta, Pat, PatType, Path, Token, Type, TypeReference, parse::ParseStream,
};

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
    /// The function that names the subjects of a `Vec` of states.
    pub(crate) each: Option<EachSubject>,
}

impl InjectedParameter {
    /// Returns true if only a state can be taken like this: it may be missing, or it has a subject.
    pub(crate) const fn is_surely_state(&self) -> bool {
        self.is_optional || self.subject.is_some() || self.is_recursive
    }
}

/// `day in days`: the function of the command that returns the values of a field of the template.
pub(crate) struct EachSubject {
    pub(crate) variable: Ident,
    pub(crate) function: Path,
}

/// Parses a parameter that is a reference, an `Option` of a reference, or a `Vec` of such options.
pub(crate) fn parse_parameter(
    parameter: &PatType,
    errors: &mut Errors,
) -> Option<InjectedParameter> {
    let list = types::inside_list_of_states(&parameter.ty);
    let option = types::inside_option(&parameter.ty);
    let Type::Reference(reference) = list.or(option).unwrap_or(&parameter.ty) else {
        return None;
    };
    check_reference(reference, errors);
    let StateSubject {
        subject,
        is_recursive,
        each,
    } = read_where(parameter, list.is_some(), errors);
    Some(InjectedParameter {
        name: name(&parameter.pat),
        ty: (*reference.elem).clone(),
        is_optional: option.is_some(),
        subject,
        is_recursive,
        each,
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

/// `#[subject(…)]`: the subject from which a state is rebuilt, `recursive` and `day in days`, each of which may be missing.
#[derive(Default)]
struct StateSubject {
    subject: Option<(LitStr, Template)>,
    is_recursive: bool,
    each: Option<EachSubject>,
}

const EXAMPLE: &str = "write `#[subject(\"/readers/{reader}\")]`, with `recursive` behind a comma if the subjects below belong to it";
const EACH_EXAMPLE: &str = "write `#[subject(\"/days/{day}\", day in PlanSeasonCommand::days)]`, with the function of the command that returns the days";

/// Parses `#[subject(…)]`. Records an error for other attributes.
fn read_where(parameter: &PatType, is_list: bool, errors: &mut Errors) -> StateSubject {
    let mut found = StateSubject::default();
    let mut is_first = true;
    let mut is_malformed = false;
    for attr in &parameter.attrs {
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
                let parse = |input: ParseStream<'_>| found.parse_words(input, errors);
                if let Err(error) = list.parse_args_with(parse) {
                    let message = format!("{error}: {EXAMPLE}");
                    errors.record_parse_error(syn::Error::new(error.span(), message));
                    is_malformed = true;
                }
            }
            _ => {
                errors.record(
                    attr,
                    format!("say which subject the state is rebuilt from: {EXAMPLE}"),
                );
            }
        }
    }
    if !is_malformed {
        found.check_list(parameter, is_list, errors);
    }
    found
}

impl StateSubject {
    fn parse_words(&mut self, input: ParseStream<'_>, errors: &mut Errors) -> syn::Result<()> {
        if input.peek(LitStr) {
            self.subject = parse_template(input.parse()?, errors);
        } else {
            self.parse_word(input)?;
        }
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                self.parse_word(input)?;
            }
        }
        Ok(())
    }

    fn parse_word(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let variable: Ident = input.parse()?;
        if self.each.is_none() && input.parse::<Option<Token![in]>>()?.is_some() {
            let function = input.parse()?;
            self.each = Some(EachSubject { variable, function });
        } else if !self.is_recursive && variable == "recursive" {
            self.is_recursive = true;
        } else {
            let message = format!("`{variable}` is no word that stands here");
            return Err(syn::Error::new(variable.span(), message));
        }
        Ok(())
    }

    /// Checks that a `Vec` of states has the function that names their subjects, and that nothing else has one.
    fn check_list(&self, parameter: &PatType, is_list: bool, errors: &mut Errors) {
        let Some(EachSubject { variable, .. }) = &self.each else {
            if is_list {
                let message =
                    format!("say which subjects the states are rebuilt from: {EACH_EXAMPLE}");
                errors.record(&parameter.ty, message);
            }
            return;
        };
        let mut fields = self
            .subject
            .iter()
            .flat_map(|(_, template)| template.fields());
        if !is_list {
            let message = "several subjects have several states, each of which may be missing: take them as a `Vec<Option<&…>>`";
            errors.record(variable, message);
        } else if !fields.any(|field| variable == field) {
            let message = format!(
                "the subject does not hold `{{{variable}}}`, so it would be the same each time: {EACH_EXAMPLE}"
            );
            errors.record(variable, message);
        }
    }
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
