//! An attribute that stands on another kind of item than it is meant for.

use proc_macro2::TokenStream;
use quote::ToTokens as _;
use syn::Item;

use super::errors::Errors;

/// Notes what the attribute is meant for; or what the parser found, if there is no item at all.
pub(crate) fn note(input: TokenStream, message: &str, error: syn::Error, errors: &mut Errors) {
    match syn::parse2::<Item>(input) {
        Ok(item) => errors.at(name(&item), message),
        Err(_) => errors.push(error),
    }
}

/// What of an item is underlined: its name reads better than the whole of it.
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
