//! Checks the function of a publication.

use syn::{Attribute, FnArg, Ident, ItemFn, PatType, ReturnType, Signature, Type};

use crate::codegen::{
    annotated_function::AnnotatedFunction,
    annotated_item,
    errors::Errors,
    handler::parameter::{self, InjectedParameter},
    parameters::FunctionKind,
    signature::{self, SignatureMessages},
    types,
};

/// A publication without mistakes.
pub(super) struct CheckedPublication {
    pub(super) ident: Ident,
    pub(super) event: Type,
    /// True if the function borrows the event.
    pub(super) by_reference: bool,
    pub(super) states: Vec<InjectedParameter>,
    pub(super) output: Type,
    /// The personal fields of the event that the function sees.
    pub(super) personal: Vec<Ident>,
    /// The attributes that the generated code repeats.
    pub(super) forwarded: Vec<Attribute>,
}

const FORM: &str = "write `fn copy_available(event: &BookReturnedEvent) -> CopyAvailable`";

/// Runs all checks, so that one compilation reports all mistakes.
pub(super) fn check_publication(
    declared: &AnnotatedFunction,
    errors: &mut Errors,
) -> Option<CheckedPublication> {
    let ItemFn { attrs, sig, .. } = &declared.item;
    signature::reject_unsupported_parts(sig, &REASONS, errors);
    if let Some(receiver) = sig.receiver() {
        let message = "a publication is a function of its own: move it out of the `impl`, and take the event instead of `self`";
        errors.record(receiver, message);
    }
    let mut parameters = declared.parameters();
    let event = event(sig, parameters.next(), errors);
    // Each parameter is checked, also after one with a mistake.
    let states: Vec<_> = parameters.map(|one| state(one, errors)).collect();
    let output = output(sig, errors);
    let (event, by_reference) = event?;
    Some(CheckedPublication {
        ident: sig.ident.clone(),
        event,
        by_reference,
        states: states.into_iter().collect::<Option<_>>()?,
        output: output?,
        personal: Vec::new(),
        forwarded: annotated_item::forwarded(attrs),
    })
}

const REASONS: SignatureMessages = SignatureMessages {
    no_async: Some(
        "a publication says what others are told and does no I/O, because a sink delivers: remove `async`",
    ),
    no_unsafe: "a publication is called by safe code: remove `unsafe`",
    no_extern: "a publication is called from Rust: remove `extern`",
    no_generics: "a publication follows from one kind of event: name its type instead of a generic parameter",
};

/// Returns the type of the event, and true if the function borrows it.
fn event(sig: &Signature, first: Option<&PatType>, errors: &mut Errors) -> Option<(Type, bool)> {
    let Some(first) = first else {
        if !sig
            .inputs
            .iter()
            .any(|one| matches!(one, FnArg::Receiver(_)))
        {
            let message = format!("this follows from no event: {FORM}");
            errors.record(&sig.ident, message);
        }
        return None;
    };
    for attr in &first.attrs {
        let message = "the event of a publication has no attributes: remove this one";
        errors.record(attr, message);
    }
    let event = types::event_of_parameter(&first.ty);
    if event.is_none() {
        errors.record(&first.ty, FunctionKind::Publish.no_event());
    }
    event
}

/// Parses a state that the function takes.
fn state(parameter: &PatType, errors: &mut Errors) -> Option<InjectedParameter> {
    if types::inside_list_of_states(&parameter.ty).is_none() {
        let state = parameter::parse_parameter(parameter, errors);
        match state {
            Some(state) if !types::is_no_event(&state.ty) => return Some(state),
            Some(state) if types::last_word(&state.ty).is_some_and(|it| it == "RecordedEvent") => {
                let message = "the `RecordedEvent` contains all personal values: remove this parameter; the id, the time and the subject of the event leave with each public event";
                errors.record(&parameter.ty, message);
                return None;
            }
            _ => {}
        }
    }
    errors.record(&parameter.ty, FunctionKind::Publish.refused());
    None
}

fn output(sig: &Signature, errors: &mut Errors) -> Option<Type> {
    match &sig.output {
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => {}
            Type::ImplTrait(_) => {
                let message = "a publication says which public event it publishes: write its type instead of `impl`";
                errors.record(ty, message);
                return None;
            }
            Type::Path(path) if types::last_word(ty).is_some_and(|name| name == "Result") => {
                let message = "a publication cannot fail: return the public event alone, or an `Option` of it";
                errors.record(path, message);
                return None;
            }
            ty => return Some(ty.clone()),
        },
        ReturnType::Default => {}
    }
    let message = format!("say what others are told: {FORM}");
    errors.record(&sig.ident, message);
    None
}
