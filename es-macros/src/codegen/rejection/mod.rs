//! `#[derive(Rejection)]`: from the attributes to the code in passes.

mod ast;
mod attr;
mod check;
mod detail;
mod expand;

use proc_macro2::TokenStream;
use syn::{Data, DeriveInput};

use super::{errors::Errors, framework::Framework, manifest::Manifest};

/// The code of `#[derive(Rejection)]`, or the compile errors and as much code as keeps others away.
pub(crate) fn derive(input: TokenStream, manifest: &Manifest) -> TokenStream {
    let item: DeriveInput = match syn::parse2(input) {
        Ok(item) => item,
        Err(error) => return error.into_compile_error(),
    };
    let mut errors = Errors::default();
    let Some(framework) = Framework::resolve(&item.attrs, manifest, &mut errors) else {
        return errors.into_compile_errors();
    };
    let declared = ast::read(&item, &mut errors);
    let checked = declared.and_then(|declared| check::check(declared, &mut errors));
    match checked {
        Some(rejection) if errors.is_empty() => expand::expand(&rejection, &framework),
        _ => {
            let mut tokens = errors.into_compile_errors();
            let is_union = matches!(item.data, Data::Union(_));
            if item.generics.params.is_empty() && !is_union {
                tokens.extend(expand::stub(&item.ident, &framework));
            }
            tokens
        }
    }
}
