//! Checks that the functions of a block form a projection.

use std::collections::BTreeMap;

use quote::ToTokens as _;
use syn::{
    Attribute, Ident, ImplItemFn, PatType, ReceiverKind, ReturnType, Type, spanned::Spanned as _,
};

use super::attr::{self, KeyField, StepAttributes, StepKey};
use crate::codegen::{
    annotated_impl::{AnnotatedImpl, BlockFunction},
    annotated_item,
    errors::Errors,
    impl_block,
    parameters::FunctionKind,
    signature::{self, SignatureMessages},
    types,
};

/// A projection that passed the checks.
pub(crate) struct CheckedProjection {
    pub(crate) model: Type,
    /// Attributes of the block that the generated code repeats.
    pub(crate) forwarded: Vec<Attribute>,
    pub(crate) steps: Vec<ProjectionStep>,
}

/// The function that projects one kind of event.
pub(crate) struct ProjectionStep {
    pub(crate) function: Ident,
    /// The `#[cfg(…)]` attributes of the function.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) event: Type,
    /// True if the function borrows the event.
    pub(crate) by_reference: bool,
    /// True if the function also takes the stored event.
    pub(crate) takes_recorded: bool,
    pub(crate) key: StepKey,
    /// The list in the event, if the function changes a row for each of its elements.
    pub(crate) each: Option<EachElement>,
    pub(crate) shape: StepShape,
}

/// The list whose elements a function takes.
pub(crate) struct EachElement {
    /// The event's field.
    pub(crate) list: Ident,
    /// The type of an element.
    pub(crate) element: Type,
}

impl ProjectionStep {
    /// Returns true if the subject of the event contains the key.
    pub(crate) const fn has_key_in_subject(&self) -> bool {
        matches!(self.key, StepKey::Subject)
    }
}

/// The effect of a function on the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepShape {
    /// `fn (event) -> Self`
    Put,
    /// `fn (&mut self, event)`
    Change,
    /// `fn (self, event) -> Self`
    Replace,
    /// `fn (self, event) -> Option<Self>`
    Remove,
    /// `fn (row: Option<Self>, event) -> Option<Self>`
    Follow,
}

const SHAPES: &str = "write `fn purchased(event: &BookPurchasedEvent) -> Self` for a new row, `fn borrowed(&mut self, event: &BookBorrowedEvent)` for a change, `fn removed(self, event: &BookRemovedEvent) -> Option<Self>` for one that may end the row, or `fn counted(row: Option<Self>, event: &BookBorrowedEvent) -> Option<Self>` for all of these";

/// Checks everything and reports all mistakes.
pub(crate) fn check_projection(
    declared: &AnnotatedImpl,
    errors: &mut Errors,
) -> Option<CheckedProjection> {
    let block = &declared.block;
    impl_block::reject_unsupported_parts(block, &BLOCK, errors);
    let mut events = BTreeMap::new();
    let mut steps = Vec::new();
    for function in &declared.functions {
        let Some(step) = step(function, errors) else {
            continue;
        };
        let event = step.event.to_token_stream().to_string();
        // Functions with `#[cfg(…)]` are not checked: perhaps each build contains only one of them.
        if step.conditions.is_empty()
            && let Some(earlier) = events.insert(event, step.function.clone())
        {
            let message = format!(
                "`{earlier}` says already what follows from this event: put both into one function"
            );
            errors.record(&step.event, message);
        }
        steps.push(step);
    }
    if declared.functions.is_empty() {
        let message = format!("no event leads to a row: {SHAPES}");
        errors.record(&block.self_ty, message);
    }
    check_creation(declared, &steps, errors);
    Some(CheckedProjection {
        model: (*block.self_ty).clone(),
        forwarded: annotated_item::forwarded(&block.attrs),
        steps,
    })
}

/// Records an error if no function creates a row. A function with a mistake is perhaps the one that does.
fn check_creation(declared: &AnnotatedImpl, steps: &[ProjectionStep], errors: &mut Errors) {
    let creates = |step: &ProjectionStep| matches!(step.shape, StepShape::Put | StepShape::Follow);
    if !steps.is_empty() && steps.len() == declared.functions.len() && !steps.iter().any(creates) {
        let message = "no event creates a row, so the table would stay empty: add to this block `fn purchased(event: &BookPurchasedEvent) -> Self { … }` for the first event";
        errors.record(&declared.block.self_ty, message);
    }
}

const BLOCK: impl_block::BlockMessages = impl_block::BlockMessages {
    no_trait: "a projection is a block of its own: write `impl BookCopy { … }` without a trait",
    no_generics: "a projection has no generic parameters",
    functions_alone: Some("a projection holds functions alone: move this into another `impl`"),
};

/// Checks one function of the block.
fn step(function: &BlockFunction, errors: &mut Errors) -> Option<ProjectionStep> {
    let sig = &function.item.sig;
    signature::reject_unsupported_parts(sig, &REASONS, errors);
    let StepAttributes { mut key, list } =
        attr::parse_step_attributes(&function.attributes, errors);
    let typed: Vec<_> = types::typed_parameters(sig).collect();
    let takes_row = sig.receiver().is_none()
        && typed
            .first()
            .is_some_and(|first| types::is_option_of_self(&first.ty));
    let parameters = typed.get(usize::from(takes_row)..).unwrap_or_default();
    let Some(shape) = shape(&function.item, takes_row) else {
        errors.record(
            &sig.ident,
            format!("this is no step of a projection: {SHAPES}"),
        );
        return None;
    };
    let (each, parameters) = match list {
        None => (None, parameters),
        Some(list) => {
            let (element, others) = element_of_list(&sig.ident, parameters, errors)?;
            if matches!(key, StepKey::Subject) {
                key = StepKey::Fields(vec![KeyField::whole_element(element.span())]);
            }
            (Some(EachElement { list, element }), others)
        }
    };
    let (event, takes_recorded) = match parameters {
        [event] => (event, false),
        [event, recorded] => {
            check_recorded(recorded, errors);
            (event, true)
        }
        [] => {
            let message = "a step of a projection follows from an event: add a parameter such as `event: &BookPurchasedEvent`";
            errors.record(&sig.ident, message);
            return None;
        }
        [_, _, third, ..] => {
            errors.record(third, FunctionKind::Projection.refused());
            return None;
        }
    };
    let Some((event, by_reference)) = types::event_of_parameter(&event.ty) else {
        errors.record(&event.ty, FunctionKind::Projection.no_event());
        return None;
    };
    if each.is_some() && !by_reference {
        errors.record(&event, BORROWED);
    }
    Some(ProjectionStep {
        function: sig.ident.clone(),
        conditions: annotated_item::conditions(&function.item.attrs),
        event,
        by_reference,
        takes_recorded,
        key,
        each,
        shape,
    })
}

const BORROWED: &str = "all elements of the list share the event: take both by reference, such as `seat: &Uuid, event: &SeatsReservedEvent`";

/// Returns the type of the element that a function with `#[each(…)]` takes, and the parameters after it.
fn element_of_list<'a>(
    function: &Ident,
    parameters: &'a [&'a PatType],
    errors: &mut Errors,
) -> Option<(Type, &'a [&'a PatType])> {
    let [element, others @ ..] = parameters else {
        errors.record(function, NO_ELEMENT);
        return None;
    };
    if others.is_empty() {
        errors.record(element, NO_ELEMENT);
        return None;
    }
    match &*element.ty {
        Type::Reference(reference) if reference.mutability.is_none() => {
            Some(((*reference.elem).clone(), others))
        }
        ty => {
            errors.record(ty, BORROWED);
            None
        }
    }
}

const NO_ELEMENT: &str = "a function with `#[each(…)]` takes an element of the list and the event: write `seat: &Uuid, event: &SeatsReservedEvent`";

/// Records an error for a second parameter that is surely not the `RecordedEvent`.
fn check_recorded(parameter: &PatType, errors: &mut Errors) {
    let is_reference = |ty: &Type| match ty {
        Type::Reference(reference) => {
            let word = types::last_word(&reference.elem);
            reference.mutability.is_none() && word.is_some_and(|word| word == "RecordedEvent")
        }
        _ => false,
    };
    if !is_reference(&parameter.ty) {
        errors.record(parameter, FunctionKind::Projection.refused());
    }
}

const REASONS: SignatureMessages = SignatureMessages {
    no_async: Some("a projection follows from events alone and does no I/O: remove `async`"),
    no_unsafe: "a projection is called by safe code: remove `unsafe`",
    no_extern: "a projection is called from Rust: remove `extern`",
    no_generics: "a step follows from one kind of event: name its type instead of a generic parameter",
};

/// Returns the effect of the function on the row, or `None` if its signature has none.
fn shape(function: &ImplItemFn, takes_row: bool) -> Option<StepShape> {
    let returned = match &function.sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    let receiver = function.sig.receiver();
    match (receiver, returned) {
        (None, Some(ty)) if takes_row && types::is_option_of_self(ty) => Some(StepShape::Follow),
        (None, Some(ty)) if !takes_row && types::is_self(ty) => Some(StepShape::Put),
        (Some(receiver), None) => {
            let changes = matches!(receiver.kind, ReceiverKind::Reference(_, _, Some(_)));
            changes.then_some(StepShape::Change)
        }
        (Some(receiver), Some(ty)) if matches!(receiver.kind, ReceiverKind::Value) => {
            if types::is_self(ty) {
                Some(StepShape::Replace)
            } else {
                types::is_option_of_self(ty).then_some(StepShape::Remove)
            }
        }
        _ => None,
    }
}
