//! `#[derive(Command)]`: from the attributes to the code in passes.

mod ast;
mod attr;
mod check;
mod expand;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use super::{errors::Errors, framework::Framework, manifest::Manifest};

/// The code of `#[derive(Command)]`, or the compile errors and as much code as keeps others away.
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
    let checked = check::check(declared, &mut errors);
    match checked {
        Some(command) if errors.is_empty() => expand::expand(&command, &framework),
        _ => {
            let mut tokens = errors.into_compile_errors();
            if item.generics.params.is_empty() {
                tokens.extend(expand::stub(&item.ident, &framework));
            }
            tokens
        }
    }
}
