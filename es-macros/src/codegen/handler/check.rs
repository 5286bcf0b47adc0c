//! Checks the function of a handler.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, FnArg, Ident, ItemFn, PatType, ReturnType, Signature, Type};

use super::{
    command_parameter,
    parameter::{self, InjectedParameter},
};
use crate::codegen::{
    annotated_function::AnnotatedFunction,
    annotated_item,
    errors::Errors,
    signature::{self, SignatureMessages},
    types,
};

/// A handler without mistakes.
pub(crate) struct CheckedHandler {
    pub(crate) ident: Ident,
    pub(crate) command: Type,
    /// The parameters in order, with `None` at the position of the command.
    pub(crate) parameters: Vec<Option<InjectedParameter>>,
    pub(crate) output: Type,
    /// The attributes that the generated code repeats.
    pub(crate) forwarded: Vec<Attribute>,
}

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_handler(
    declared: &AnnotatedFunction,
    errors: &mut Errors,
) -> Option<CheckedHandler> {
    let ItemFn { attrs, sig, .. } = &declared.item;
    check_signature(sig, errors);
    let command = command(declared, errors);
    let parameters = declared
        .parameters()
        .map(|one| parameter::parse_parameter(one, errors))
        .collect();
    let output = output(&sig.output, sig, errors);
    Some(CheckedHandler {
        ident: sig.ident.clone(),
        command: command?,
        parameters,
        output: output?,
        forwarded: annotated_item::forwarded(attrs),
    })
}

const REASONS: SignatureMessages = SignatureMessages {
    no_async: Some("a handler decides on what it is given and does no I/O: remove `async`"),
    no_unsafe: "a handler is called by safe code: remove `unsafe`",
    no_extern: "a handler is called from Rust: remove `extern`",
    no_generics: "a handler decides on one kind of command: name its type instead of a generic parameter",
};

fn check_signature(sig: &Signature, errors: &mut Errors) {
    signature::reject_unsupported_parts(sig, &REASONS, errors);
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        errors.record(
            receiver,
            "a handler is a function of its own: move it out of the `impl`, and take the command instead of `self`",
        );
    }
}

/// Returns the parameter that is the command. Records an error for every other parameter that is
/// taken by value.
fn command(declared: &AnnotatedFunction, errors: &mut Errors) -> Option<Type> {
    let is_called_one = |one: &&PatType| command_parameter::is_command(&one.ty);
    let called = command_parameter::by_value_parameters(declared).find(is_called_one);
    let command = called.or_else(|| command_parameter::by_value_parameters(declared).next());
    let mut has_mistake = false;
    for parameter in declared.parameters() {
        if command.is_some_and(|command| std::ptr::eq(command, parameter)) {
            for attr in &parameter.attrs {
                errors.record(attr, "the command has no attributes here: remove this one");
            }
        } else if let Some(message) = mistake(parameter, command) {
            has_mistake = true;
            errors.record(without_attributes(parameter), message);
        }
    }
    let sig = &declared.item.sig;
    if command.is_none() && !has_mistake && sig.receiver().is_none() {
        let message = format!(
            "a handler takes the command that it decides on: write `fn {}(command: PurchaseBookCommand)`",
            sig.ident
        );
        errors.record(&sig.ident, message);
    }
    command.map(|command| (*command.ty).clone())
}

/// Returns the message for a parameter taken by value, or for a command taken by reference.
fn mistake(parameter: &PatType, command: Option<&PatType>) -> Option<String> {
    let name = text(&parameter.pat);
    let ty = &*parameter.ty;
    match (ty, command) {
        (Type::Reference(reference), None) if command_parameter::is_command(&reference.elem) => {
            let command = text(&reference.elem);
            Some(format!(
                "the command is the handler's to keep: write `{name}: {command}`"
            ))
        }
        (Type::Reference(_), _) => None,
        (Type::Path(_), Some(command)) if command_parameter::is_command(ty) => Some(format!(
            "a handler decides on one command, which is `{}` here: remove this one",
            text(&command.ty)
        )),
        (Type::Path(_), _) if types::inside_list_of_states(ty).is_some() => None,
        (Type::Path(_), _)
            if matches!(types::first_argument(ty, "Vec"), Some(Type::Reference(_))) =>
        {
            Some(format!(
                "each of several subjects may have no state: write `{name}: Vec<Option<&…>>`"
            ))
        }
        (Type::Path(_), _) => match types::inside_option(ty) {
            Some(Type::Reference(_)) => None,
            Some(inside) => Some(format!(
                "what a handler is given besides its command it only looks at: write `{name}: Option<&{}>`",
                text(inside)
            )),
            None => Some(format!(
                "what a handler is given besides its command it only looks at: write `{name}: &{}`",
                text(ty)
            )),
        },
        _ => Some(
            "a handler takes a struct with `#[derive(Command)]`: write its name here".to_owned(),
        ),
    }
}

fn without_attributes(parameter: &PatType) -> TokenStream {
    let PatType {
        pat,
        colon_token,
        ty,
        ..
    } = parameter;
    quote!(#pat #colon_token #ty)
}

/// Formats code for an error message.
fn text(code: &impl ToTokens) -> String {
    let text = code.to_token_stream().to_string();
    text.replace(" :: ", "::")
        .replace(" < ", "<")
        .replace(" >", ">")
}

fn output(output: &ReturnType, sig: &Signature, errors: &mut Errors) -> Option<Type> {
    match output {
        ReturnType::Default => {
            let message =
                "a handler returns the event that it decides on: add `-> BookPurchasedEvent`";
            errors.record(&sig.ident, message);
            None
        }
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => {
                let message =
                    "a handler returns the event that it decides on: write `-> BookPurchasedEvent`";
                errors.record(ty, message);
                None
            }
            Type::ImplTrait(_) => {
                let message = "a handler says which event it decides on: write the event's type instead of `impl`";
                errors.record(ty, message);
                None
            }
            ty => Some(ty.clone()),
        },
    }
}
