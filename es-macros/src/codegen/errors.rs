//! Collects the mistakes of one item, so that one compilation reports all of them.

use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The recorded errors, in the order in which they were found.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// Records an error. The compiler marks the tokens `at` as its place.
    pub(crate) fn record(&mut self, at: impl ToTokens, message: impl Display) {
        self.0.push(syn::Error::new_spanned(at, message));
    }

    /// Records an error of the parser.
    pub(crate) fn record_parse_error(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns code that makes the compiler report all errors. Returns nothing if there is none.
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
