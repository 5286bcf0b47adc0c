//! Checks the function of an upcaster.

use quote::ToTokens as _;
use syn::{Attribute, FnArg, Ident, ItemFn, PatType, ReturnType, Signature, Type, parse_quote};

use crate::codegen::{
    annotated_function::AnnotatedFunction,
    annotated_item,
    errors::Errors,
    parameters::FunctionKind,
    signature::{self, SignatureMessages},
};

/// An upcaster without mistakes.
pub(crate) struct CheckedUpcaster {
    pub(crate) ident: Ident,
    /// The type of the old event.
    pub(crate) event: Type,
    pub(crate) output: Type,
    /// The attributes that the generated code repeats.
    pub(crate) forwarded: Vec<Attribute>,
}

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_upcaster(
    declared: &AnnotatedFunction,
    errors: &mut Errors,
) -> Option<CheckedUpcaster> {
    let ItemFn { attrs, sig, .. } = &declared.item;
    check_signature(sig, errors);
    let event = event(declared, errors);
    let output = output(&sig.output, errors);
    Some(CheckedUpcaster {
        ident: sig.ident.clone(),
        event: event?,
        output: output?,
        forwarded: annotated_item::forwarded(attrs),
    })
}

const REASONS: SignatureMessages = SignatureMessages {
    no_async: Some(
        "an upcaster makes events of the event that it is given and does no I/O: remove `async`",
    ),
    no_unsafe: "an upcaster is called by safe code: remove `unsafe`",
    no_extern: "an upcaster is called from Rust: remove `extern`",
    no_generics: "an upcaster reads one kind of event: name its type instead of a generic parameter",
};

fn check_signature(sig: &Signature, errors: &mut Errors) {
    signature::reject_unsupported_parts(sig, &REASONS, errors);
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                let message = "an upcaster is a function of its own: move it out of the `impl`, and take the old event instead of `self`";
                errors.record(receiver, message);
            }
            FnArg::Typed(parameter) => {
                for attr in &parameter.attrs {
                    let message = "an upcaster's parameter has no attributes: remove this one";
                    errors.record(attr, message);
                }
            }
        }
    }
}

/// Returns the type of the only parameter, which is taken by value.
fn event(declared: &AnnotatedFunction, errors: &mut Errors) -> Option<Type> {
    let sig = &declared.item.sig;
    let mut parameters = declared.parameters();
    let Some(first) = parameters.next() else {
        if sig.receiver().is_none() {
            let message = format!(
                "an upcaster takes the event as it was stored: write `fn {}(old: BookPurchasedV1)`",
                sig.ident
            );
            errors.record(&sig.ident, message);
        }
        return None;
    };
    for PatType { pat, .. } in parameters {
        errors.record(pat, FunctionKind::Upcaster.refused());
    }
    match &*first.ty {
        ty @ Type::Path(_) => Some(ty.clone()),
        Type::Reference(reference) => {
            let message = format!(
                "the old event is the upcaster's to keep: write `{}`",
                reference.elem.to_token_stream()
            );
            errors.record(&first.ty, message);
            None
        }
        other => {
            let message = "an upcaster takes a struct with `#[derive(Event)]`: write its name here";
            errors.record(other, message);
            None
        }
    }
}

fn output(output: &ReturnType, errors: &mut Errors) -> Option<Type> {
    match output {
        ReturnType::Default => Some(parse_quote!(())),
        ReturnType::Type(_, ty) => match &**ty {
            Type::ImplTrait(_) => {
                let message = "an upcaster says which event it makes: write the event's type instead of `impl`";
                errors.record(ty, message);
                None
            }
            Type::Never(_) => {
                let message = "every stored event is read for ever, so an upcaster returns: leave the type out for an event that means nothing today";
                errors.record(ty, message);
                None
            }
            ty => Some(ty.clone()),
        },
    }
}
