//! Generic parameters, which nothing that is registered can have.

use syn::Generics;

use super::errors::Errors;

/// Notes parameters, or else a `where`.
pub(crate) fn check(generics: &Generics, message: &str, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.at(generics, message);
    } else if let Some(clause) = &generics.where_clause {
        errors.at(clause, message);
    }
}
