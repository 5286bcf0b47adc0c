//! Finds the parameter of a handler that is its command.

use syn::{PatType, Type};

use crate::codegen::{annotated_function::AnnotatedFunction, types};

/// Returns the parameter types whose names end with `Command`. If no name does, returns the first type
/// that is taken by value.
pub(crate) fn possible_command_types(function: &AnnotatedFunction) -> Vec<&Type> {
    let types = function.parameters().map(|parameter| &*parameter.ty);
    let targets = types.map(|ty| match ty {
        Type::Reference(reference) => &*reference.elem,
        ty => ty,
    });
    let named: Vec<_> = targets.filter(|ty| is_command(ty)).collect();
    if !named.is_empty() {
        return named;
    }
    let first = by_value_parameters(function)
        .map(|parameter| &*parameter.ty)
        .next();
    first.into_iter().collect()
}

/// Returns the parameters that may be the command.
pub(crate) fn by_value_parameters(function: &AnnotatedFunction) -> impl Iterator<Item = &PatType> {
    let is_named = |parameter: &&PatType| matches!(&*parameter.ty, Type::Path(_));
    function
        .parameters()
        .filter(is_named)
        .filter(|parameter| types::inside_option(&parameter.ty).is_none())
        .filter(|parameter| types::inside_list_of_states(&parameter.ty).is_none())
}

/// Returns true if the type's name ends with `Command`.
pub(crate) fn is_command(ty: &Type) -> bool {
    types::last_word(ty).is_some_and(|word| word.ends_with("Command"))
}
