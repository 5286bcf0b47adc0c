//! Follows the containers that the syntax of a type names.

use syn::{GenericArgument, Ident, PathArguments, Type, TypePath};

/// The way to the values inside a type, as far as its syntax shows it.
pub(crate) enum Contents<'a> {
    /// The rules of the type itself, if it has some, and the types that it names.
    Value(Vec<&'a Type>),
    /// An optional value.
    Optional(&'a Type),
    /// A value behind a pointer.
    Pointer(&'a Type),
    /// Items with an index.
    List(&'a Type),
    /// Items without an index, because the set has another order than the request.
    Set(&'a Type),
    /// Keys and values.
    Map(&'a Type, &'a Type),
    /// A value or another one.
    Result(&'a Type, &'a Type),
    /// Values of several types with an index each.
    Tuple(Vec<&'a Type>),
}

impl<'a> Contents<'a> {
    pub(crate) fn of(ty: &'a Type) -> Self {
        match ty {
            Type::Array(array) => Self::List(&array.elem),
            Type::Slice(slice) => Self::List(&slice.elem),
            Type::Tuple(tuple) => Self::Tuple(tuple.elems.iter().collect()),
            Type::Paren(paren) => Self::of(&paren.elem),
            Type::Group(group) => Self::of(&group.elem),
            Type::Path(path) => Self::of_path(path),
            _ => Self::Value(vec![]),
        }
    }

    fn of_path(path: &'a TypePath) -> Self {
        let Some((name, arguments)) = last_segment(path) else {
            return Self::Value(vec![]);
        };
        match (name.to_string().as_str(), arguments.as_slice()) {
            ("Option", [inner]) => Self::Optional(inner),
            ("Box" | "Rc" | "Arc" | "Cow", [inner]) => Self::Pointer(inner),
            ("Vec" | "VecDeque" | "LinkedList", [inner]) => Self::List(inner),
            ("BTreeSet" | "BinaryHeap", [inner]) | ("HashSet", [inner] | [inner, _]) => {
                Self::Set(inner)
            }
            ("BTreeMap", [key, value]) | ("HashMap", [key, value] | [key, value, _]) => {
                Self::Map(key, value)
            }
            ("Result", [value, error]) => Self::Result(value, error),
            _ => Self::Value(arguments),
        }
    }

    /// Returns the types inside.
    pub(crate) fn types(&self) -> Vec<&'a Type> {
        match self {
            Self::Value(arguments) => arguments.clone(),
            Self::Optional(inner) | Self::Pointer(inner) | Self::List(inner) | Self::Set(inner) => {
                vec![inner]
            }
            Self::Map(one, other) | Self::Result(one, other) => vec![one, other],
            Self::Tuple(types) => types.clone(),
        }
    }
}

/// Returns the name of a type and its type arguments.
fn last_segment(path: &TypePath) -> Option<(&Ident, Vec<&Type>)> {
    let last = path.path.segments.last()?;
    let arguments = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = arguments.args.iter().filter_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            types.collect()
        }
        _ => vec![],
    };
    Some((&last.ident, arguments))
}
