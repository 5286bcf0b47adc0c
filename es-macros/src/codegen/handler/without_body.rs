//! Gives a handler without a body the body of a handler that records its command as the event.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Attribute, FnArg, Pat, PatType, ReturnType, Signature, Token, Visibility,
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
    let mut has_mistake = false;
    for other in inputs {
        has_mistake = true;
        let message = "a handler without a body records its command, and decides on nothing else: write a body, or remove this parameter";
        errors.record(other, message);
    }
    let name = command_name(pat, errors);
    let ReturnType::Type(_, event) = &sig.output else {
        return None;
    };
    if has_mistake {
        return None;
    }
    // The compiler reports a missing conversion at the event.
    let name = name?;
    let call = quote_spanned!(event.span()=> <#event as ::core::convert::From<#ty>>::from);
    Some(quote!(#call(#name)))
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
