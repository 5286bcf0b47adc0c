//! Checks the functions of a reaction.

use syn::{Attribute, Ident, LitInt, PatType, ReturnType, Signature, Type, ext::IdentExt as _};

use super::{
    attr::{self, DeadlineAttr, ReactionAttr},
    schedule::{self, ScheduleAttr},
};
use crate::codegen::{
    annotated_impl::{AnnotatedImpl, BlockFunction},
    annotated_item, attribute,
    errors::Errors,
    handler::parameter::{self, InjectedParameter},
    impl_block,
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
    /// The conditions under which the block is compiled.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) steps: Vec<ReactionStep>,
}

/// A function that reacts to one event type, or that is called at the times of a schedule.
pub(crate) struct ReactionStep {
    /// The conditions under which the function is compiled.
    pub(crate) conditions: Vec<Attribute>,
    pub(crate) function: Ident,
    pub(crate) cause: StepCause,
    pub(crate) leads_to: ReactionEffect,
}

/// The reason why a function is called.
pub(crate) enum StepCause {
    Event {
        event: Box<Type>,
        /// True if the function borrows the event.
        by_reference: bool,
        deadline: Option<DeadlineAttr>,
    },
    Schedule {
        schedule: ScheduleAttr,
        /// True if the function takes the time.
        takes_time: bool,
    },
}

/// The effect of a function.
pub(crate) enum ReactionEffect {
    /// The function returns commands of this type, and takes these states.
    Commands {
        output: Box<Type>,
        states: Vec<InjectedParameter>,
    },
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
    /// A state, a service or settings.
    Injected(Box<InjectedParameter>),
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
    let functions = declared.functions.iter();
    let steps: Vec<_> = functions.filter_map(|one| step(one, errors)).collect();
    let is_schedule = |step: &ReactionStep| matches!(step.cause, StepCause::Schedule { .. });
    // Schedules alone need none of the events before.
    let default = if steps.iter().all(is_schedule) {
        "New"
    } else {
        "First"
    };
    let begin = attr.begin.as_ref().map_or(Some(default), |word| {
        attribute::choose(word, &BEGINNINGS, ("beginning", "beginning"), errors)
    });
    Some(CheckedReaction {
        ty: (*block.self_ty).clone(),
        name: name?,
        begin: begin?,
        attempts: attr.attempts,
        repeats: attr.repeats,
        conditions: annotated_item::conditions(&block.attrs),
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
    let last = match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    let own = last.map(|segment| segment.ident.unraw().to_string());
    let found = own.filter(|name| is_fit(name));
    if found.is_none() {
        let message = "this cannot be the reaction's name: add `#[reaction(name = \"LoanReminder\")]`, in ASCII letters, digits, `-` and `_`";
        errors.record(ty, message);
    }
    found
}

const BEGINNINGS: [(&str, &str); 2] = [("first", "First"), ("new", "New")];

/// Checks one function of the block.
fn step(function: &BlockFunction, errors: &mut Errors) -> Option<ReactionStep> {
    let sig = &function.item.sig;
    check_signature(sig, errors);
    if let [_, second, ..] = function.attributes.as_slice() {
        let message =
            "a function has one deadline or schedule: remove this one, or write another function";
        errors.record(second, message);
    }
    let mut parameters: Vec<_> = types::typed_parameters(sig).collect();
    let cause = match function.attributes.first() {
        Some(attr) if attr.path().is_ident("schedule") => {
            let schedule = schedule::parse_schedule_attribute(attr, errors);
            let takes_time = takes_time(&mut parameters);
            schedule.map(|schedule| StepCause::Schedule {
                schedule,
                takes_time,
            })
        }
        attr => {
            let deadline = match attr {
                Some(attr) => attr::parse_deadline_attribute(attr, errors).map(Some),
                None => Some(None),
            };
            let event = take_event(sig, &mut parameters, errors);
            event
                .zip(deadline)
                .map(|((event, by_reference), deadline)| StepCause::Event {
                    event: Box::new(event),
                    by_reference,
                    deadline,
                })
        }
    };
    let attributes = &mut function.attributes.iter();
    let parameters = OtherParameters {
        is_scheduled: attributes.any(|attr| attr.path().is_ident("schedule")),
        parameters,
    };
    let leads_to = match &sig.asyncness {
        None => commands(function, &parameters, errors),
        Some(_) => call(function, &parameters, errors),
    };
    Some(ReactionStep {
        conditions: annotated_item::conditions(&function.item.attrs),
        function: sig.ident.clone(),
        cause: cause?,
        leads_to: leads_to?,
    })
}

/// Removes the time from the parameters of a function that is called by a schedule. Returns whether it was there.
fn takes_time(parameters: &mut Vec<&PatType>) -> bool {
    let is_time = |ty: &Type| types::last_word(ty).is_some_and(|name| name == "Timestamp");
    let takes_time = parameters.first().is_some_and(|first| is_time(&first.ty));
    if takes_time {
        parameters.remove(0);
    }
    takes_time
}

/// Removes the event from the parameters of a function. Returns its type, and true if the function borrows it.
fn take_event(
    sig: &Signature,
    parameters: &mut Vec<&PatType>,
    errors: &mut Errors,
) -> Option<(Type, bool)> {
    let kind = match sig.asyncness {
        None => FunctionKind::Send,
        Some(_) => FunctionKind::Call,
    };
    if parameters.is_empty() {
        let message = format!(
            "this follows from no event: {FORMS}; `{}` above the function calls it without an event",
            schedule::EXAMPLE
        );
        errors.record(&sig.ident, message);
        return None;
    }
    event(parameters.remove(0), kind, errors)
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

/// The parameters of a function besides its event or its time.
struct OtherParameters<'a> {
    parameters: Vec<&'a PatType>,
    is_scheduled: bool,
}

impl OtherParameters<'_> {
    /// Checks that a schedule, which has no event, takes the state of a subject that is written out.
    fn check_subject(&self, parameter: &PatType, state: &InjectedParameter, errors: &mut Errors) {
        if !self.is_scheduled {
            return;
        }
        let Some((text, template)) = &state.subject else {
            let message = "a schedule has no event, so a state needs a subject: write `#[subject(\"/books\", recursive)]` before the parameter";
            errors.record(parameter, message);
            return;
        };
        if let Some(field) = template.fields().next() {
            let message = format!(
                "a schedule has no event with a value for `{{{field}}}`: write a subject without fields, with `recursive` behind a comma if the subjects below belong to the state"
            );
            errors.record(text, message);
        }
    }
}

fn commands(
    function: &BlockFunction,
    others: &OtherParameters<'_>,
    errors: &mut Errors,
) -> Option<ReactionEffect> {
    let mut states = Vec::new();
    for other in &others.parameters {
        let is_list = types::inside_list_of_states(&other.ty).is_some();
        let state = (!is_list).then(|| parameter::parse_parameter(other, errors));
        match state
            .flatten()
            .filter(|state| !types::is_no_event(&state.ty))
        {
            Some(state) => {
                others.check_subject(other, &state, errors);
                states.push(state);
            }
            None if others.is_scheduled => {
                let message = "a function with a schedule that is not `async` takes its time as a `Timestamp`, and references to states (`#[derive(State)]`): remove this parameter, and let the command's handler take it";
                errors.record(other, message);
            }
            None => {
                let message = format!(
                    "{}, and let the command's handler take it; {}",
                    FunctionKind::Send.refused(),
                    FunctionKind::Call.allowed()
                );
                errors.record(other, message);
            }
        }
    }
    match &function.item.sig.output {
        ReturnType::Type(_, output) if !is_unit(output) => Some(ReactionEffect::Commands {
            output: output.clone(),
            states,
        }),
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
    others: &OtherParameters<'_>,
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
    // Each parameter is checked, also after one with a mistake.
    let parameters = others.parameters.iter();
    let checked: Vec<_> = parameters
        .map(|other| call_parameter(other, others, errors))
        .collect();
    let parameters: Option<Vec<_>> = checked.into_iter().collect();
    Some(ReactionEffect::Call {
        output: output?.clone(),
        parameters: parameters?,
    })
}

fn call_parameter(
    parameter: &PatType,
    others: &OtherParameters<'_>,
    errors: &mut Errors,
) -> Option<CallParameter> {
    let is_mutable =
        matches!(&*parameter.ty, Type::Reference(reference) if reference.mutability.is_some());
    let is_list = types::inside_list_of_states(&parameter.ty).is_some();
    let is_refused = is_mutable || is_list;
    let parsed = (!is_refused).then(|| parameter::parse_parameter(parameter, errors));
    let Some(injected) = parsed.flatten() else {
        errors.record(&parameter.ty, FunctionKind::Call.refused());
        return None;
    };
    if injected.is_surely_state() {
        others.check_subject(parameter, &injected, errors);
        return Some(CallParameter::Injected(Box::new(injected)));
    }
    Some(match types::last_word(&injected.ty).as_deref() {
        Some("ReactionKey") => CallParameter::Key,
        Some("RecordedEvent") => CallParameter::Recorded,
        _ => CallParameter::Injected(Box::new(injected)),
    })
}
