//! The code generators. Each macro has the same passes: `attr` parses attributes, `ast` parses an
//! item of another shape than a struct with named fields, `check` finds mistakes, and `expand` generates code.

mod annotated_function;
mod annotated_impl;
mod annotated_item;
mod attribute;
mod caller_rules;
mod column;
pub(crate) mod command;
mod contents;
mod declaration_kind;
mod derive;
mod doc_comment;
mod errors;
pub(crate) mod event;
pub(crate) mod evolve;
mod fields;
mod framework;
mod generics;
pub(crate) mod handler;
mod impl_block;
mod json_impls;
mod json_item;
mod json_names;
mod json_types;
pub(crate) mod manifest;
mod map_keys;
mod naming;
mod parameters;
mod personal;
pub(crate) mod projection;
pub(crate) mod public_event;
pub(crate) mod publish;
pub(crate) mod query;
pub(crate) mod query_handler;
pub(crate) mod reaction;
pub(crate) mod read_model;
pub(crate) mod rejection;
mod round_trip;
mod serde_attr;
mod serde_words;
pub(crate) mod service;
pub(crate) mod settings;
mod signature;
pub(crate) mod state;
mod template;
#[cfg(test)]
mod tests;
mod types;
mod unique;
mod untagged;
pub(crate) mod upcast;
mod validate;
pub(crate) mod value;

use proc_macro2::{Ident, TokenStream};
use quote::quote_spanned;

use framework::Framework;

/// Generates the declaration of an item. All tokens have the span of the item's name, because
/// otherwise the line would be that of the macro.
fn declaration(item: &Ident, framework: &Framework) -> TokenStream {
    let framework = framework.with_span(item.span());
    quote_spanned!(item.span()=> #framework::declaration!())
}
