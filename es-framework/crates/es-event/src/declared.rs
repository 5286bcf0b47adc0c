//! The step that every list of declarations takes: sorted by name, each declaration once, no name twice.

use std::{collections::BTreeMap, fmt};

use crate::{Declaration, subject_template::shape};

/// The kind of declarations that must not share a name.
///
/// ```
/// use es_event::NamedKind;
///
/// assert_ne!(NamedKind::Event, NamedKind::Reaction);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedKind {
    /// Commands, by the paths of their routes.
    Command,
    /// Events, by their types.
    Event,
    /// Upcasters, by the types of the events that they convert.
    Upcaster,
    /// Read models, by their tables.
    ReadModel,
    /// Queries, by the paths of their routes.
    Query,
    /// Reactions, by their names.
    Reaction,
    /// Publications, by the names of their functions.
    Publication,
    /// Public events, by their types.
    PublicEvent,
}

/// The error for two declarations with one name or path.
///
/// ```
/// use es_event::{DuplicateDeclaration, NamedKind, declaration};
///
/// let [first, second] = [declaration!(), declaration!()].map(|place| ("", place));
/// let (kind, name) = (NamedKind::ReadModel, "book_copies".to_owned());
/// let error = DuplicateDeclaration { kind, name, first, second };
/// assert!(error.to_string().starts_with("two read models are named book_copies: at "));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateDeclaration {
    /// The kind of the declarations.
    pub kind: NamedKind,
    /// The name or path.
    pub name: String,
    /// The Rust type of one declaration, if its name is a path, and its place.
    pub first: (&'static str, Declaration),
    /// The same of the other declaration.
    pub second: (&'static str, Declaration),
}

impl fmt::Display for DuplicateDeclaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            name,
            first: (first_type, first),
            second: (second_type, second),
        } = self;
        match kind {
            NamedKind::Command => write!(
                f,
                "two commands are posted to {name}: {first_type} at {first} and {second_type} at {second}: give one of them another path with #[command(path = \"…\")]"
            ),
            NamedKind::Event => write!(
                f,
                "two events have the type {name}: at {first} and at {second}: rename one of them, or give it a name of its own with #[event(name = \"…\")]"
            ),
            NamedKind::Upcaster => write!(
                f,
                "the event {name} has two upcasters: at {first} and at {second}: remove one of them"
            ),
            NamedKind::ReadModel => write!(
                f,
                "two read models are named {name}: at {first} and at {second}: rename one of them"
            ),
            NamedKind::Query => write!(
                f,
                "two queries have the path {name}: the one at {first} and the one at {second}: give one of them another path with #[query(path = \"…\")]"
            ),
            NamedKind::Reaction => write!(
                f,
                "two reactions are named {name}: at {first} and at {second}: rename one of them, or write #[reaction(name = \"…\")]"
            ),
            NamedKind::Publication => write!(
                f,
                "two publications are named {name}: at {first} and at {second}: rename one of them, because the name is part of the ids of public events"
            ),
            NamedKind::PublicEvent => write!(
                f,
                "two public events have the type {name}: at {first} and at {second}: rename one of them, or give it a name of its own with #[public_event(name = \"…\")]"
            ),
        }
    }
}

impl std::error::Error for DuplicateDeclaration {}

/// Sorts the declarations of one kind. A declaration that was added twice stays once.
pub fn sort_declarations<T, K: Ord>(
    declared: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut sorted: Vec<_> = declared.into_iter().collect();
    sorted.sort_by_key(&key);
    sorted.dedup_by_key(|one| key(one));
    sorted
}

/// Sorts declarations by their names, and checks that no two share one.
///
/// # Errors
/// Two declarations share a name.
pub fn sort_by_unique_name<T>(
    kind: NamedKind,
    declared: impl IntoIterator<Item = T>,
    name: impl Fn(&T) -> (&'static str, Declaration),
) -> Result<Vec<T>, DuplicateDeclaration> {
    let sorted = sort_declarations(declared, &name);
    let names = sorted.iter().map(&name);
    check_unique(kind, names.map(|(name, place)| (name, "", place)))?;
    Ok(sorted)
}

/// Checks that no two declarations share a name. Each has its name, its Rust type and its place. Paths that differ only
/// in the names of their parameters are one path.
///
/// # Errors
/// Two declarations share a name.
pub fn check_unique<'a>(
    kind: NamedKind,
    declared: impl IntoIterator<Item = (&'a str, &'static str, Declaration)>,
) -> Result<(), DuplicateDeclaration> {
    let mut seen = BTreeMap::new();
    for (name, rust_type, place) in declared {
        let second = (rust_type, place);
        if let Some(first) = seen.insert(shape(name), second) {
            let name = name.to_owned();
            return Err(DuplicateDeclaration {
                kind,
                name,
                first,
                second,
            });
        }
    }
    Ok(())
}
