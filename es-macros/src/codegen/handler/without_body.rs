//! Gives a handler without a body the body of a handler that records its command as the event.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Attribute, FnArg, Pat, PatType, ReturnType, Signature, Token, Type, Visibility,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

use crate::codegen::errors::Errors;

/// A function that ends with a semicolon.
struct FunctionWithoutBody {
    attrs: Vec<Attribute>,
    vis: Visibility,
    sig: Signature,
}

impl Parse for FunctionWithoutBody {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let function = Self {
            attrs: input.call(Attribute::parse_outer)?,
            vis: input.parse()?,
            sig: input.parse()?,
        };
        input.parse::<Token![;]>()?;
        Ok(function)
    }
}

/// Adds the body to a function without one. Returns other items unchanged.
pub(super) fn add_body(input: TokenStream, errors: &mut Errors) -> TokenStream {
    let Ok(function) = syn::parse2::<FunctionWithoutBody>(input.clone()) else {
        return input;
    };
    let FunctionWithoutBody { attrs, vis, sig } = function;
    let body = body(&sig, errors).unwrap_or_else(|| quote!(::core::unreachable!()));
    quote!(#(#attrs)* #vis #sig { #body })
}

/// Returns the conversion of the command into the event. Records an error for a function that needs a body;
/// the checks of every handler record those of a function without a command or an event.
fn body(sig: &Signature, errors: &mut Errors) -> Option<TokenStream> {
    let mut inputs = sig.inputs.iter();
    let Some(FnArg::Typed(PatType { pat, ty, .. })) = inputs.next() else {
        return None;
    };
    let others: Vec<_> = inputs.collect();
    for other in &others {
        let message = "a handler without a body records its command, and decides on nothing else: write a body, or remove this parameter";
        errors.record(other, message);
    }
    let name = command_name(pat, errors);
    let event = event(&sig.output, errors);
    if !others.is_empty() || !matches!(**ty, Type::Path(_)) {
        return None;
    }
    let (name, event) = (name?, event?);
    // The compiler reports a missing conversion at the event.
    let call = quote_spanned!(event.span()=> <#event as ::core::convert::From<#ty>>::from);
    Some(quote!(#call(#name)))
}

/// Returns the event that the command converts into. Records an error for several events, or perhaps none.
fn event<'a>(output: &'a ReturnType, errors: &mut Errors) -> Option<&'a Type> {
    let ReturnType::Type(_, event) = output else {
        return None;
    };
    let is_one_event = match &**event {
        Type::Path(path) => {
            let mut segments = path.path.segments.iter();
            segments.all(|segment| segment.arguments.is_none())
        }
        // Every handler refuses these.
        Type::Tuple(tuple) if tuple.elems.is_empty() => return None,
        Type::ImplTrait(_) => return None,
        _ => false,
    };
    if !is_one_event {
        let message = "a handler without a body records its command as one event: write the event's type, or a body";
        errors.record(event, message);
        return None;
    }
    Some(event)
}

fn command_name(pat: &Pat, errors: &mut Errors) -> Option<Ident> {
    match pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(pat.ident.clone()),
        other => {
            let message = "a handler without a body records its command: name it, as in `command: PurchaseBookCommand`";
            errors.record(other, message);
            None
        }
    }
}
