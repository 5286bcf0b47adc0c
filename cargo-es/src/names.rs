//! Names of packages, types and fields, checked before anything is written.

use std::str::FromStr;

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};

use crate::error::ToolError;

/// Longer names would not fit into the lines of the templates.
const MAX_LENGTH: usize = 36;

/// The words that Rust 2024 reserves.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Names that mean something else to Cargo, or in an application.
const RESERVED_PACKAGES: &[&str] = &[
    "alloc",
    "build",
    "core",
    "deps",
    "es_framework",
    "examples",
    "incremental",
    "proc_macro",
    "serde_json",
    "std",
    "test",
    "tokio",
];
const RESERVED_MODULES: &[&str] = &[
    "alloc",
    "core",
    "es_framework",
    "lib",
    "main",
    "std",
    "tests",
];
/// Names that the templates use, and the types of fields.
const RESERVED_TYPES: &[&str] = &[
    "Date",
    "Err",
    "None",
    "Ok",
    "Option",
    "Page",
    "QueryContext",
    "QueryError",
    "ReactionKey",
    "RecordedEvent",
    "Result",
    "Self",
    "Some",
    "String",
    "Timestamp",
    "Uuid",
    "Vec",
];

/// The beginning of the names of the framework's own tables and columns.
const RESERVED_PREFIX: &str = "es_";

/// The name of a Cargo package.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PackageName(String);

/// The name of a struct, in upper camel case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeName(String);

/// The name of a command, with or without its suffix `Command`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CommandName(TypeName);

/// The name of an event, with or without its suffix `Event`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EventName(TypeName);

/// The name of a field, such as `seats`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldName(String);

impl FieldName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl PackageName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name as a part of event types.
    pub(crate) fn to_event_type_segment(&self) -> String {
        self.0.replace('-', "_")
    }
}

impl TypeName {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of its module and of its function.
    pub(crate) fn snake_case(&self) -> String {
        self.0.to_snake_case()
    }

    /// Returns the name as a sentence for its documentation.
    pub(crate) fn to_doc_sentence(&self) -> String {
        let words = self.snake_case().replace('_', " ");
        let mut letters = words.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).chain(['.']).collect()
    }
}

impl CommandName {
    /// Returns the name without its suffix.
    pub(crate) fn stem(&self) -> &TypeName {
        &self.0
    }

    pub(crate) fn type_name(&self) -> String {
        format!("{}Command", self.0.0)
    }
}

impl EventName {
    /// Returns the name without its suffix.
    pub(crate) fn stem(&self) -> &TypeName {
        &self.0
    }

    pub(crate) fn type_name(&self) -> String {
        format!("{}Event", self.0.0)
    }
}

impl FromStr for PackageName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let allows =
            |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "-_".contains(one);
        let is_valid = text.starts_with(|one: char| one.is_ascii_lowercase())
            && text.chars().all(allows)
            && text.len() <= MAX_LENGTH;
        if !is_valid {
            return Err(format!(
                "a package is named with at most {MAX_LENGTH} lower-case letters, digits, `-` and `_`, a letter first"
            ));
        }
        let ident = text.replace('-', "_");
        if is_in(RESERVED_PACKAGES, &ident) || is_in(KEYWORDS, &ident) {
            return Err("Rust reserves this name".to_owned());
        }
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for TypeName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_ident = text.starts_with(|one: char| one.is_ascii_alphabetic())
            && text
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || one == '_')
            && text.to_snake_case().len() <= MAX_LENGTH;
        if !is_ident {
            return Err(format!(
                "a type is named with at most {MAX_LENGTH} ASCII letters and digits, a letter first"
            ));
        }
        if text.starts_with(|one: char| one.is_ascii_lowercase()) || text.contains('_') {
            let camel_case = text.to_upper_camel_case();
            return Err(format!(
                "a type has a name in camel case: write `{camel_case}`"
            ));
        }
        let module = text.to_snake_case();
        if is_in(KEYWORDS, &module) || is_in(RESERVED_MODULES, &module) {
            return Err(format!("`{module}` cannot be the name of its module"));
        }
        check_type_is_free(text)?;
        Ok(Self(text.to_owned()))
    }
}

impl FromStr for CommandName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        without_suffix(text, "Command").map(Self)
    }
}

impl FromStr for EventName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let name = without_suffix(text, "Event").map(Self)?;
        check_type_is_free(&name.type_name())?;
        Ok(name)
    }
}

fn without_suffix(text: &str, suffix: &str) -> Result<TypeName, String> {
    let stem = text.strip_suffix(suffix);
    stem.filter(|stem| !stem.is_empty()).unwrap_or(text).parse()
}

impl FromStr for FieldName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        check_field_name(text)?;
        Ok(Self(text.to_owned()))
    }
}

/// Checks the name of a field.
pub(crate) fn check_field_name(name: &str) -> Result<(), String> {
    let is_ident = name.starts_with(|one: char| one.is_ascii_lowercase())
        && name
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || one == '_')
        && name.len() <= MAX_LENGTH;
    if !is_ident {
        return Err(format!(
            "`{name}` is no name of a field, which has at most {MAX_LENGTH} ASCII letters, digits and `_`, a lower-case letter first"
        ));
    }
    let snake_case = name.to_snake_case();
    if name != snake_case {
        return Err(format!(
            "a field has a name in snake case: write `{snake_case}`"
        ));
    }
    if is_in(KEYWORDS, name) {
        return Err(format!(
            "`{name}` is a keyword of Rust and cannot name a field"
        ));
    }
    Ok(())
}

/// Fails for a type of this name, which would hide another one in a generated file.
fn check_type_is_free(name: &str) -> Result<(), String> {
    if is_in(RESERVED_TYPES, name) {
        return Err(format!(
            "`{name}` is a name that generated files use: take another one"
        ));
    }
    Ok(())
}

/// Fails for the name of a table or a column that is the framework's own.
pub(crate) fn check_sql_name(name: &str) -> Result<(), ToolError> {
    if name.starts_with(RESERVED_PREFIX) {
        return Err(ToolError::new(format!(
            "`{name}` is a name of the framework's own, as all that begin with `{RESERVED_PREFIX}`"
        )));
    }
    Ok(())
}

fn is_in(names: &[&str], name: &str) -> bool {
    names.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_error(text: &str) -> String {
        text.parse::<TypeName>().unwrap_err()
    }

    #[test]
    fn a_suffix_is_not_repeated() {
        for text in ["BorrowBook", "BorrowBookCommand"] {
            let name: CommandName = text.parse().unwrap();
            assert_eq!(name.type_name(), "BorrowBookCommand");
            assert_eq!(name.stem().snake_case(), "borrow_book");
            assert_eq!(name.stem().to_doc_sentence(), "Borrow book.");
        }
        let event: EventName = "Event".parse().unwrap();
        assert_eq!(event.type_name(), "EventEvent");
    }

    #[test]
    fn names_that_do_not_compile_are_refused() {
        assert!(type_error("borrow_book").ends_with("write `BorrowBook`"));
        assert_eq!(
            type_error("Match"),
            "`match` cannot be the name of its module"
        );
        for text in ["Uuid", "Page", "Result", "RecordedEvent"] {
            assert!(type_error(text).contains("that generated files use"));
        }
        assert!("Recorded".parse::<EventName>().is_err());
        for text in ["", "1st", "Bück", "Borrow Book", &"Ab".repeat(13)] {
            assert!(
                type_error(text).starts_with("a type is named with"),
                "{text}"
            );
        }
        for text in ["", "Library", "my library", "../library", "1st", "-a"] {
            assert!(text.parse::<PackageName>().is_err(), "{text}");
        }
        for text in ["test", "self", "es-framework"] {
            let error = text.parse::<PackageName>().unwrap_err();
            assert_eq!(error, "Rust reserves this name");
        }
        assert!(check_field_name("type").unwrap_err().contains("keyword"));
        assert!(
            check_field_name("dueAt")
                .unwrap_err()
                .ends_with("write `due_at`")
        );
        assert!(check_field_name("due_at").is_ok());
    }
}
