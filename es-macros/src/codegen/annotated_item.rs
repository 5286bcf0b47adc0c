//! Reads the items under attribute macros such as `#[handler]`.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::{Attribute, Item, Meta, parse::Parse, parse_quote};

use super::errors::Errors;

/// Records an error if an attribute without parameters has arguments.
pub(crate) fn refuse_arguments(
    arguments: TokenStream,
    attribute: &str,
    reason: &str,
    errors: &mut Errors,
) {
    if !arguments.is_empty() {
        let message =
            format!("`#[{attribute}]` has no arguments: {reason}, so write `#[{attribute}]` alone");
        errors.record(arguments, message);
    }
}

/// Parses the item under the attribute and removes its `#[es(…)]` attributes, which the compiler
/// does not know. Records an error for an item of another kind.
pub(crate) fn parse_annotated_item<T: Parse>(
    input: TokenStream,
    attrs: fn(&mut T) -> &mut Vec<Attribute>,
    message: &str,
    errors: &mut Errors,
) -> Option<(T, Vec<Attribute>)> {
    match syn::parse2::<T>(input.clone()) {
        Ok(mut item) => {
            let is_ours = |attr: &mut Attribute| attr.path().is_ident("es");
            let es = attrs(&mut item).extract_if(.., is_ours).collect();
            Some((item, es))
        }
        Err(error) => {
            match syn::parse2::<Item>(input) {
                Ok(item) => errors.record(name(&item), message),
                Err(_) => errors.record_parse_error(error),
            }
            None
        }
    }
}

/// Returns the part of an item that the compiler underlines. The name reads better than the whole
/// item.
fn name(item: &Item) -> TokenStream {
    match item {
        Item::Struct(item) => item.ident.to_token_stream(),
        Item::Enum(item) => item.ident.to_token_stream(),
        Item::Fn(item) => item.sig.ident.to_token_stream(),
        Item::Mod(item) => item.ident.to_token_stream(),
        Item::Trait(item) => item.ident.to_token_stream(),
        Item::Impl(item) => item.self_ty.to_token_stream(),
        item => item.to_token_stream(),
    }
}

/// Returns the attributes that the generated code repeats: `cfg` conditions and allowed lints.
pub(crate) fn forwarded(attrs: &[Attribute]) -> Vec<Attribute> {
    let mut forwarded: Vec<_> = conditions(attrs);
    for attr in attrs {
        let Meta::List(list) = &attr.meta else {
            continue;
        };
        // The compiler checks an expectation once, in the item itself.
        if attr.path().is_ident("allow") || attr.path().is_ident("expect") {
            let lints = &list.tokens;
            forwarded.push(parse_quote!(#[allow(#lints)]));
        }
    }
    forwarded
}

/// Returns the `cfg` attributes of an item.
pub(crate) fn conditions(attrs: &[Attribute]) -> Vec<Attribute> {
    let is_condition = |attr: &&Attribute| attr.path().is_ident("cfg");
    attrs.iter().filter(is_condition).cloned().collect()
}
