//! Checks the functions of a reaction.

use quote::ToTokens as _;
use syn::{FnArg, Ident, LitInt, Pat, PatType, ReturnType, Signature, Type, ext::IdentExt as _};

use super::attr::{self, DeadlineAttr, ReactionAttr};
use crate::codegen::{
    annotated_impl::{AnnotatedImpl, BlockFunction},
    errors::Errors,
    impl_block, naming,
    parameters::FunctionKind,
    signature, types,
};

/// A reaction without mistakes.
pub(crate) struct CheckedReaction {
    pub(crate) ty: Type,
    pub(crate) name: String,
    /// The variant of `Begin`.
    pub(crate) begin: &'static str,
    pub(crate) attempts: Option<LitInt>,
    /// True if the reaction may start itself.
    pub(crate) repeats: bool,
    pub(crate) steps: Vec<ReactionStep>,
}

/// A function that reacts to one event type.
pub(crate) struct ReactionStep {
    pub(crate) function: Ident,
    pub(crate) event: Type,
    /// True if the function borrows the event.
    pub(crate) by_reference: bool,
    pub(crate) deadline: Option<DeadlineAttr>,
    pub(crate) leads_to: ReactionEffect,
}

/// The effect of a function.
pub(crate) enum ReactionEffect {
    /// The function returns commands of this type.
    Commands(Box<Type>),
    /// The function calls another system and takes these parameters.
    Call {
        output: Box<Type>,
        parameters: Vec<CallParameter>,
    },
}

/// A parameter of a call besides the event.
pub(crate) enum CallParameter {
    Key,
    /// The stored event with its id, time, subject, metadata and trace.
    Recorded,
    Service {
        name: String,
        ty: Box<Type>,
    },
}

const FORMS: &str = "write `fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand` to send a command, or `async fn mail(event: &BookBorrowedEvent, mailer: &Mailer) -> Result<(), MailError>` to call another system";

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_reaction(
    declared: &AnnotatedImpl,
    attr: ReactionAttr,
    errors: &mut Errors,
) -> Option<CheckedReaction> {
    let block = &declared.block;
    impl_block::reject_unsupported_parts(block, &BLOCK, errors);
    if declared.functions.is_empty() {
        errors.record(
            &block.self_ty,
            format!("nothing follows from any event: {FORMS}"),
        );
    }
    let name = name(&block.self_ty, &attr, errors);
    let begin = start_position(attr.begin.as_ref(), errors);
    let steps = declared.functions.iter();
    let steps: Vec<_> = steps.filter_map(|one| step(one, errors)).collect();
    Some(CheckedReaction {
        ty: (*block.self_ty).clone(),
        name: name?,
        begin: begin?,
        attempts: attr.attempts,
        repeats: attr.repeats,
        steps,
    })
}

const BLOCK: impl_block::BlockMessages = impl_block::BlockMessages {
    no_trait: "a reaction is a block of its own: write `impl LoanReminder { … }` without a trait",
    no_generics: "a reaction has no generic parameters",
    functions_alone: Some("a reaction holds functions alone: move this into another `impl`"),
};

/// Returns the name of the reaction, which is part of its subject in the event store.
fn name(ty: &Type, attr: &ReactionAttr, errors: &mut Errors) -> Option<String> {
    let is_fit = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        !name.is_empty() && name.len() <= 100 && name.bytes().all(fits)
    };
    if let Some(name) = &attr.name {
        if !is_fit(&name.value()) {
            let message = "a reaction's name is 1 to 100 ASCII letters, digits, `-` and `_`: write `name = \"LoanReminder\"`";
            errors.record(name, message);
            return None;
        }
        return Some(name.value());
    }
    let own = match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let own = own.map(|segment| segment.ident.unraw().to_string());
    let found = own.filter(|name| is_fit(name));
    if found.is_none() {
        let message = "this cannot be the reaction's name: add `#[reaction(name = \"LoanReminder\")]`, in ASCII letters, digits, `-` and `_`";
        errors.record(ty, message);
    }
    found
}

const BEGINNINGS: [(&str, &str); 2] = [("first", "First"), ("new", "New")];

/// Returns the variant of the start position that `begin` names.
fn start_position(option: Option<&Ident>, errors: &mut Errors) -> Option<&'static str> {
    let Some(option) = option else {
        return Some("First");
    };
    let found = BEGINNINGS.iter().find(|(word, _)| option == word);
    if found.is_none() {
        let words = BEGINNINGS.map(|(word, _)| word);
        let meant = naming::known_names_hint(&option.to_string(), &words, "beginning");
        errors.record(option, format!("`{option}` is no beginning: {meant}"));
    }
    found.map(|(_, variant)| *variant)
}

/// Checks one function of the block.
fn step(function: &BlockFunction, errors: &mut Errors) -> Option<ReactionStep> {
    let sig = &function.item.sig;
    check_signature(sig, errors);
    let deadline = match function.attributes.as_slice() {
        [] => Some(None),
        [only] => attr::parse_deadline_attribute(only, errors).map(Some),
        [_, second, ..] => {
            let message = "a function has one deadline: remove this one, or write another function";
            errors.record(second, message);
            None
        }
    };
    let mut parameters = sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    });
    let kind = match sig.asyncness {
        None => FunctionKind::Send,
        Some(_) => FunctionKind::Call,
    };
    let event = match parameters.next() {
        Some(first) => event(first, kind, errors),
        None => {
            let message = format!("this follows from no event: {FORMS}");
            errors.record(&sig.ident, message);
            None
        }
    };
    let others: Vec<_> = parameters.collect();
    let leads_to = match &sig.asyncness {
        None => commands(function, &others, errors),
        Some(_) => call(function, &others, errors),
    };
    let (event, by_reference) = event?;
    Some(ReactionStep {
        function: sig.ident.clone(),
        event,
        by_reference,
        deadline: deadline?,
        leads_to: leads_to?,
    })
}

const FUNCTION: signature::SignatureMessages = signature::SignatureMessages {
    no_async: None,
    no_unsafe: "a reaction is called by safe code: remove `unsafe`",
    no_extern: "a reaction is called from Rust: remove `extern`",
    no_generics: "this follows from one kind of event: name its type instead of a generic parameter",
};

fn check_signature(sig: &Signature, errors: &mut Errors) {
    signature::reject_unsupported_parts(sig, &FUNCTION, errors);
    if let Some(receiver) = sig.receiver() {
        let message = "a reaction remembers nothing, so that it goes on after a restart: remove `self`, and take what is needed from the event";
        errors.record(receiver, message);
    }
}

/// Returns the type of the event, and true if the function borrows it.
fn event(parameter: &PatType, kind: FunctionKind, errors: &mut Errors) -> Option<(Type, bool)> {
    let event = types::event_of_parameter(&parameter.ty);
    if event.is_none() {
        errors.record(&parameter.ty, kind.no_event());
    }
    event
}

fn commands(
    function: &BlockFunction,
    others: &[&PatType],
    errors: &mut Errors,
) -> Option<ReactionEffect> {
    for other in others {
        let message = format!(
            "{}, and let the command's handler take it; {}",
            FunctionKind::Send.refused(),
            FunctionKind::Call.allowed()
        );
        errors.record(other, message);
    }
    match &function.item.sig.output {
        ReturnType::Type(_, ty) if !is_unit(ty) => Some(ReactionEffect::Commands(ty.clone())),
        _ => {
            let message = format!("say what follows from the event: {FORMS}");
            errors.record(&function.item.sig.ident, message);
            None
        }
    }
}

fn is_unit(ty: &Type) -> bool {
    matches!(ty, Type::Tuple(tuple) if tuple.elems.is_empty())
}

fn call(
    function: &BlockFunction,
    others: &[&PatType],
    errors: &mut Errors,
) -> Option<ReactionEffect> {
    let sig = &function.item.sig;
    let output = match &sig.output {
        ReturnType::Type(_, ty) if types::last_word(ty).is_some_and(|name| name == "Result") => {
            Some(ty)
        }
        _ => None,
    };
    if output.is_none() {
        let message = "a call can fail and is made again then: return a `Result<(), …>`, whose error can be shown";
        errors.record(&sig.ident, message);
    }
    let parameters: Vec<_> = others
        .iter()
        .map(|other| call_parameter(other, errors))
        .collect();
    let parameters: Option<Vec<_>> = parameters.into_iter().collect();
    Some(ReactionEffect::Call {
        output: output?.clone(),
        parameters: parameters?,
    })
}

fn call_parameter(parameter: &PatType, errors: &mut Errors) -> Option<CallParameter> {
    let reference = match &*parameter.ty {
        Type::Reference(reference) if reference.mutability.is_none() => reference,
        _ => {
            errors.record(&parameter.ty, FunctionKind::Call.refused());
            return None;
        }
    };
    let ty = reference.elem.clone();
    match types::last_word(&ty).as_deref() {
        Some("ReactionKey") => return Some(CallParameter::Key),
        Some("RecordedEvent") => return Some(CallParameter::Recorded),
        _ => {}
    }
    let name = match &*parameter.pat {
        Pat::Ident(ident) => ident.ident.unraw().to_string(),
        other => other.to_token_stream().to_string(),
    };
    Some(CallParameter::Service { name, ty })
}
