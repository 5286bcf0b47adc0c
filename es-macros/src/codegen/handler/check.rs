//! Whether a function can be a handler.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, FnArg, Ident, ItemFn, PatType, ReturnType, Safety, Signature, Type};

use super::{
    ast::{self, Declared},
    parameter::{self, Parameter},
};
use crate::codegen::errors::Errors;

/// A handler that can be written out.
pub(crate) struct Handler {
    pub(crate) ident: Ident,
    pub(crate) command: Type,
    /// What it takes, in order; nothing where the command stands.
    pub(crate) parameters: Vec<Option<Parameter>>,
    pub(crate) output: Type,
    /// Conditions under which the function is compiled, and so the rest.
    pub(crate) conditions: Vec<Attribute>,
}

/// Checks everything, so that all mistakes are noted.
pub(crate) fn check(declared: &Declared, errors: &mut Errors) -> Option<Handler> {
    let ItemFn { attrs, sig, .. } = &declared.item;
    check_signature(sig, errors);
    let command = command(declared, errors);
    let parameters = declared
        .parameters()
        .map(|one| parameter::read(one, errors));
    let parameters = parameters.collect();
    let output = output(&sig.output, sig, errors);
    let is_condition = |attr: &&Attribute| attr.path().is_ident("cfg");
    Some(Handler {
        ident: sig.ident.clone(),
        command: command?,
        parameters,
        output: output?,
        conditions: attrs.iter().filter(is_condition).cloned().collect(),
    })
}

fn check_signature(sig: &Signature, errors: &mut Errors) {
    if let Some(asyncness) = &sig.asyncness {
        errors.at(
            asyncness,
            "a handler decides on what it is given and does no I/O: remove `async`",
        );
    }
    if let Safety::Unsafe(safety) = &sig.safety {
        errors.at(safety, "a handler is called by safe code: remove `unsafe`");
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi, "a handler is called from Rust: remove `extern`");
    }
    if !sig.generics.params.is_empty() {
        errors.at(
            &sig.generics,
            "a handler decides on one kind of command: name its type instead of a generic parameter",
        );
    }
    if let Some(FnArg::Receiver(receiver)) = sig.inputs.first() {
        errors.at(
            receiver,
            "a handler is a function of its own: move it out of the `impl`, and take the command instead of `self`",
        );
    }
}

/// The one parameter that is taken by value; a note for every other that is.
fn command(declared: &Declared, errors: &mut Errors) -> Option<Type> {
    let mut command: Option<&PatType> = None;
    let takes_one = declared.parameters().any(|one| !is_reference(one));
    let mut has_mistake = false;
    for parameter in declared.parameters() {
        let message = match (&*parameter.ty, command) {
            (Type::Reference(reference), _) if !takes_one && ast::is_command(&reference.elem) => {
                has_mistake = true;
                format!(
                    "the command is the handler's to keep: write `{}: {}`",
                    text(&parameter.pat),
                    text(&reference.elem)
                )
            }
            _ if is_reference(parameter) => continue,
            (_, Some(first)) => format!(
                "a handler decides on one command, which is `{}` here: take this one as a reference, or remove it",
                text(&first.ty)
            ),
            (Type::Path(_), None) => {
                command = Some(parameter);
                for attr in &parameter.attrs {
                    errors.at(attr, "the command has no attributes here: remove this one");
                }
                continue;
            }
            _ => {
                has_mistake = true;
                "a handler takes a struct with `#[derive(Command)]`: write its name here".to_owned()
            }
        };
        let underlined = without_attributes(parameter);
        errors.at(underlined, message);
    }
    let sig = &declared.item.sig;
    if command.is_none() && !has_mistake && sig.receiver().is_none() {
        let message = format!(
            "a handler takes the command that it decides on: write `fn {}(command: PurchaseBookCommand)`",
            sig.ident
        );
        errors.at(&sig.ident, message);
    }
    command.map(|command| (*command.ty).clone())
}

fn is_reference(parameter: &PatType) -> bool {
    matches!(&*parameter.ty, Type::Reference(_)) || ast::is_optional(&parameter.ty)
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

/// Code as a person writes it in a sentence.
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
            errors.at(&sig.ident, message);
            None
        }
        ReturnType::Type(_, ty) => match &**ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => {
                let message =
                    "a handler returns the event that it decides on: write `-> BookPurchasedEvent`";
                errors.at(ty, message);
                None
            }
            Type::ImplTrait(_) => {
                let message = "a handler says which event it decides on: write the event's type instead of `impl`";
                errors.at(ty, message);
                None
            }
            ty => Some(ty.clone()),
        },
    }
}
