//! What types look like, as far as a macro can tell without knowing what their names stand for.

use syn::{GenericArgument, PathArguments, Type};

/// What an `Option` may hold.
pub(crate) fn inside_option(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match (last.ident == "Option", arguments.args.first()) {
        (true, Some(GenericArgument::Type(inside))) => Some(inside),
        _ => None,
    }
}

/// The last word of the type: `Uuid` for `es_framework::prelude::Uuid`.
pub(crate) fn last_word(ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last();
    last.map(|last| last.ident.to_string())
}
