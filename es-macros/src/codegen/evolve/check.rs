//! Checks the functions that evolve a state.

use std::collections::BTreeMap;

use proc_macro2::Span;
use quote::ToTokens as _;
use syn::{
    Attribute, FnArg, Ident, ImplItemFn, PatType, ReceiverKind, ReturnType, Signature, Type,
    spanned::Spanned as _,
};

use crate::codegen::{
    annotated_impl::AnnotatedImpl,
    annotated_item,
    errors::Errors,
    impl_block,
    parameters::FunctionKind,
    signature::{self, SignatureMessages},
    types,
};

/// A function that evolves the state for one event type.
pub(crate) struct EvolveStep {
    pub(crate) ident: Ident,
    /// The `cfg` attributes of the function.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) event: Type,
    pub(crate) by_reference: bool,
    pub(crate) form: EvolveForm,
    /// True if the function returns an `Option` of the state.
    pub(crate) is_optional: bool,
    /// The location of the return type.
    pub(crate) output: Span,
}

/// The way in which a function uses the state before the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EvolveForm {
    /// The function creates a state.
    Begins,
    /// The function changes the state in place.
    Changes,
    /// The function consumes the state and returns a new one.
    Replaces,
    /// The function takes the state if there is one, and returns the state.
    Follows,
}

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_evolve(declared: &AnnotatedImpl, errors: &mut Errors) -> Vec<EvolveStep> {
    let AnnotatedImpl {
        block, functions, ..
    } = declared;
    impl_block::reject_unsupported_parts(block, &BLOCK, errors);
    if functions.is_empty() {
        errors.record(
            &block.self_ty,
            "no event leads to this state: write a function for each, such as `fn purchased(event: &BookPurchasedEvent) -> Self { … }`",
        );
    }
    let steps: Vec<_> = functions
        .iter()
        .filter_map(|function| step(&function.item, errors))
        .collect();
    check_twice(&steps, errors);
    let is_first =
        |step: &EvolveStep| matches!(step.form, EvolveForm::Begins | EvolveForm::Follows);
    let has_first = steps.iter().any(is_first);
    // A function with a mistake is perhaps the one that creates the state.
    if !steps.is_empty() && steps.len() == functions.len() && !has_first {
        let message = "no event creates this state, so it would never exist: add to this block a function without `self` for the first event, such as `fn purchased(event: &BookPurchasedEvent) -> Self { … }`";
        errors.record(&block.self_ty, message);
    }
    steps
}

const BLOCK: impl_block::BlockMessages = impl_block::BlockMessages {
    no_trait: "`#[evolve]` stands above the state's own `impl`, not that of a trait: write `impl Book { … }`",
    no_generics: "a state has no generic parameters: write the types out",
    functions_alone: None,
};

/// Checks one function of the block.
fn step(function: &ImplItemFn, errors: &mut Errors) -> Option<EvolveStep> {
    let sig = &function.sig;
    signature::reject_unsupported_parts(sig, &REASONS, errors);
    let form = form(sig, errors);
    let event = event(sig, form, errors);
    let is_optional = output(sig, form?, errors);
    let (event, by_reference) = event?;
    Some(EvolveStep {
        ident: sig.ident.clone(),
        conditions: annotated_item::conditions(&function.attrs),
        event,
        by_reference,
        form: form?,
        is_optional: is_optional?,
        output: sig.output.span(),
    })
}

const REASONS: SignatureMessages = SignatureMessages {
    no_async: Some("a state follows from its events alone, without I/O: remove `async`"),
    no_unsafe: "this is called by safe code: remove `unsafe`",
    no_extern: "this is called from Rust: remove `extern`",
    no_generics: "this is called with one kind of event: name its type instead of a generic parameter",
};

fn form(sig: &Signature, errors: &mut Errors) -> Option<EvolveForm> {
    let Some(receiver) = sig.receiver() else {
        return Some(match sig.inputs.first() {
            Some(FnArg::Typed(first)) if types::is_option_of_self(&first.ty) => EvolveForm::Follows,
            _ => EvolveForm::Begins,
        });
    };
    match &receiver.kind {
        ReceiverKind::Value => Some(EvolveForm::Replaces),
        ReceiverKind::Reference(_, _, Some(_)) => Some(EvolveForm::Changes),
        _ => {
            let message = "an event changes the state: write `&mut self` to change it, or `self` to replace it; a function that only looks at it stands in another `impl`";
            errors.record(receiver, message);
            None
        }
    }
}

/// Returns the type of the event parameter, and true if it is a reference.
fn event(sig: &Signature, form: Option<EvolveForm>, errors: &mut Errors) -> Option<(Type, bool)> {
    let mut parameters = types::typed_parameters(sig);
    if form == Some(EvolveForm::Follows) {
        parameters.next();
    }
    let Some(PatType { ty, .. }) = parameters.next() else {
        let message = format!(
            "a state follows from events: add the one that leads here, as in `{}(event: &BookPurchasedEvent)`; other functions stand in another `impl`",
            sig.ident
        );
        errors.record(&sig.ident, message);
        return None;
    };
    for other in parameters {
        let message = format!(
            "{}, or move the function into another `impl`",
            FunctionKind::State.refused()
        );
        errors.record(other, message);
    }
    let event = types::event_of_parameter(ty);
    if event.is_none() {
        errors.record(ty, FunctionKind::State.no_event());
    }
    event
}

/// Returns true for an `Option`, false for the state itself, and `None` for an invalid return type.
fn output(sig: &Signature, form: EvolveForm, errors: &mut Errors) -> Option<bool> {
    match (&sig.output, form) {
        (ReturnType::Default, EvolveForm::Changes) => Some(false),
        (ReturnType::Type(_, ty), EvolveForm::Changes) => {
            let message = "what changes the state in place returns nothing: remove this, or take `self` instead of `&mut self`";
            errors.record(ty, message);
            None
        }
        (ReturnType::Default, _) => {
            let message = "say what the state is after this event: add `-> Self`, or take `&mut self` to change it in place";
            errors.record(&sig.ident, message);
            None
        }
        (ReturnType::Type(_, ty), _) => Some(types::inside_option(ty).is_some()),
    }
}

fn check_twice(steps: &[EvolveStep], errors: &mut Errors) {
    let mut seen = BTreeMap::new();
    // Two functions with `cfg` conditions may exclude each other.
    for step in steps.iter().filter(|step| step.conditions.is_empty()) {
        let event = step.event.to_token_stream().to_string();
        if let Some(first) = seen.insert(event, &step.ident) {
            let message = format!(
                "`{first}` already says what follows from this event: put both into one function"
            );
            errors.record(&step.event, message);
        }
    }
}
