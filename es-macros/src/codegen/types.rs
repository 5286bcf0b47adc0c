//! Inspects the syntax of types. A macro cannot resolve their names.

use syn::{
    FnArg, GenericArgument, Ident, PatType, PathArguments, PathSegment, ReturnType, Signature, Type,
};

/// Types of the framework that are no events, whatever their place.
const NO_EVENTS: [&str; 5] = [
    "Clock",
    "Caller",
    "Metadata",
    "ReactionKey",
    "RecordedEvent",
];

/// Returns the type inside an `Option`.
pub(crate) fn inside_option(ty: &Type) -> Option<&Type> {
    first_argument(ty, "Option")
}

/// Returns the reference inside a `Vec<Option<&…>>`.
pub(crate) fn inside_list_of_states(ty: &Type) -> Option<&Type> {
    inside_option(first_argument(ty, "Vec")?).filter(|inside| matches!(inside, Type::Reference(_)))
}

/// Returns the first type argument of a type of this name.
pub(crate) fn first_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let (last, arguments) = name_and_arguments(ty)?;
    arguments.first().copied().filter(|_| last == name)
}

/// Returns the last segment of a type, and its type arguments.
pub(crate) fn name_and_arguments(ty: &Type) -> Option<(&Ident, Vec<&Type>)> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return Some((&last.ident, vec![]));
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Some((&last.ident, types.collect()))
}

/// Returns true for `Self`.
pub(crate) fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Self"))
}

/// Returns true for `Option<Self>`.
pub(crate) fn is_option_of_self(ty: &Type) -> bool {
    inside_option(ty).is_some_and(is_self)
}

/// Returns the last segment of the type: `Uuid` for `es_framework::prelude::Uuid`.
pub(crate) fn last_word(ty: &Type) -> Option<String> {
    name_and_arguments(ty).map(|(last, _)| last.to_string())
}

/// Returns the event type of a parameter, and true if the parameter is a reference.
pub(crate) fn event_of_parameter(ty: &Type) -> Option<(Type, bool)> {
    let (event, by_reference) = match ty {
        Type::Reference(reference) if reference.mutability.is_none() => (&*reference.elem, true),
        ty => (ty, false),
    };
    let may_be_event = matches!(event, Type::Path(_)) && !is_no_event(event);
    may_be_event.then(|| (event.clone(), by_reference))
}

/// Returns true if a type of this name is surely no event, and no state.
pub(crate) fn is_no_event(ty: &Type) -> bool {
    last_word(ty).is_some_and(|name| NO_EVENTS.contains(&name.as_str()))
}

/// Removes the invisible group around a `$type:ty` that another macro passed.
pub(crate) fn ungroup(ty: &mut Type) {
    if let Type::Group(group) = ty
        && matches!(
            *group.elem,
            Type::Path(_)
                | Type::Reference(_)
                | Type::Array(_)
                | Type::Slice(_)
                | Type::Tuple(_)
                | Type::Paren(_)
                | Type::Group(_)
        )
    {
        *ty = (*group.elem).clone();
        return ungroup(ty);
    }
    match ty {
        Type::Reference(reference) => ungroup(&mut reference.elem),
        Type::Array(array) => ungroup(&mut array.elem),
        Type::Slice(slice) => ungroup(&mut slice.elem),
        Type::Paren(paren) => ungroup(&mut paren.elem),
        Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(ungroup),
        Type::Path(path) => path.path.segments.iter_mut().for_each(ungroup_arguments),
        _ => {}
    }
}

fn ungroup_arguments(segment: &mut PathSegment) {
    if let PathArguments::AngleBracketed(arguments) = &mut segment.arguments {
        for argument in &mut arguments.args {
            if let GenericArgument::Type(inside) = argument {
                ungroup(inside);
            }
        }
    }
}

/// Returns the parameters of a function without `self`.
pub(crate) fn typed_parameters(sig: &Signature) -> impl Iterator<Item = &PatType> {
    sig.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(parameter) => Some(parameter),
        FnArg::Receiver(_) => None,
    })
}

/// Removes the invisible groups around all types of a signature.
pub(crate) fn ungroup_signature(sig: &mut Signature) {
    for input in &mut sig.inputs {
        if let FnArg::Typed(parameter) = input {
            ungroup(&mut parameter.ty);
        }
    }
    if let ReturnType::Type(_, ty) = &mut sig.output {
        ungroup(ty);
    }
}
