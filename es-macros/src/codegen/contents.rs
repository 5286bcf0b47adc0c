//! Follows the containers that the syntax of a type names.

use syn::Type;

use super::types;

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
            _ => Self::of_path(ty),
        }
    }

    fn of_path(ty: &'a Type) -> Self {
        let Some((name, arguments)) = types::name_and_arguments(ty) else {
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
