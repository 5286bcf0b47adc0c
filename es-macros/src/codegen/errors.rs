//! The mistakes of one item, gathered so that all of them are reported in one compile.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The mistakes found so far, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Notes a mistake; the compiler underlines all of `at`.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(at, message));
    }

    /// Notes a mistake that a parser found.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The code that makes the compiler report everything; nothing if there is nothing.
    pub(crate) fn into_compile_errors(self) -> TokenStream {
        self.0
            .into_iter()
            .map(syn::Error::into_compile_error)
            .collect()
    }

    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
    }
}
