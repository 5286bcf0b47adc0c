//! Rejects generic parameters, which registered items cannot have.

use syn::Generics;

use super::errors::Errors;

/// Records an error for generic parameters or a `where` clause.
pub(crate) fn reject_generics(generics: &Generics, message: &str, errors: &mut Errors) {
    if !generics.params.is_empty() {
        errors.record(generics, message);
    } else if let Some(clause) = &generics.where_clause {
        errors.record(clause, message);
    }
}
