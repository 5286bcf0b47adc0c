//! Names of packages, types and fields, checked before anything is written.

use std::fmt;

use heck::{ToSnakeCase as _, ToUpperCamelCase as _};

/// Longer names would not fit into the lines of the templates.
const MAX_LENGTH: usize = 36;

/// The name of a struct, in upper camel case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeName {
    /// The name without its suffix.
    stem: String,
    /// `Command`, `Event` or nothing. It may be left out on the command line.
    suffix: &'static str,
}

/// The path of a type that the application has, or its end: `BookBorrowed` or `lending::BookBorrowed`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypePath {
    /// The path in front of the name, with its last `::`.
    modules: String,
    name: TypeName,
}

impl TypeName {
    pub(crate) fn command(text: &str) -> Result<Self, String> {
        Self::parse(text, "Command")
    }

    pub(crate) fn event(text: &str) -> Result<Self, String> {
        Self::parse(text, "Event")
    }

    /// Parses the name of a type that has no suffix.
    pub(crate) fn plain(text: &str) -> Result<Self, String> {
        Self::parse(text, "")
    }

    fn parse(text: &str, suffix: &'static str) -> Result<Self, String> {
        let shortened = text.strip_suffix(suffix).filter(|stem| !stem.is_empty());
        let stem = shortened.unwrap_or(text).to_owned();
        let name = Self { stem, suffix };
        let module = name.snake_case();
        if !is_ascii_ident(&name.stem) || module.len() > MAX_LENGTH {
            return Err(format!(
                "a type is named with at most {MAX_LENGTH} ASCII letters and digits, a letter first"
            ));
        }
        if name.stem.starts_with(|one: char| one.is_ascii_lowercase()) || name.stem.contains('_') {
            let camel_case = name.stem.to_upper_camel_case();
            return Err(format!(
                "a type has a name in camel case: write `{camel_case}`"
            ));
        }
        if is_keyword(&module) || is_reserved_module(&module) {
            return Err(format!("`{module}` cannot be the name of its module"));
        }
        let text = name.to_string();
        if is_name_of_templates(&text) {
            return Err(format!(
                "`{text}` is a name that generated files use: take another one"
            ));
        }
        Ok(name)
    }

    /// Returns the name of its module and of its function.
    pub(crate) fn snake_case(&self) -> String {
        self.stem.to_snake_case()
    }

    /// Returns the name as a sentence for its documentation.
    pub(crate) fn to_doc_sentence(&self) -> String {
        let words = self.snake_case().replace('_', " ");
        let mut letters = words.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).chain(['.']).collect()
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.stem, self.suffix)
    }
}

impl TypePath {
    pub(crate) fn command(text: &str) -> Result<Self, String> {
        Self::parse(text, TypeName::command)
    }

    pub(crate) fn event(text: &str) -> Result<Self, String> {
        Self::parse(text, TypeName::event)
    }

    pub(crate) fn plain(text: &str) -> Result<Self, String> {
        Self::parse(text, TypeName::plain)
    }

    fn parse(
        text: &str,
        parse_name: impl Fn(&str) -> Result<TypeName, String>,
    ) -> Result<Self, String> {
        let start = text.rfind("::").map_or(0, |index| index + 2);
        let (modules, name) = text.split_at(start);
        Ok(Self {
            modules: modules.to_owned(),
            name: parse_name(name)?,
        })
    }

    pub(crate) fn name(&self) -> &TypeName {
        &self.name
    }

    /// Returns whether this is the path, such as `crate::lending::BookBorrowedEvent`, or its end.
    pub(crate) fn ends(&self, path: &str) -> bool {
        let before = path.strip_suffix(&self.to_string());
        before.is_some_and(|before| before.is_empty() || before.ends_with("::"))
    }
}

impl fmt::Display for TypePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.modules, self.name)
    }
}

/// Checks the name of a Cargo package.
pub(crate) fn parse_package_name(text: &str) -> Result<String, String> {
    let allows = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || "-_".contains(one);
    let is_valid = text.starts_with(|one: char| one.is_ascii_lowercase())
        && text.chars().all(allows)
        && text.len() <= MAX_LENGTH;
    if !is_valid {
        return Err(format!(
            "a package is named with at most {MAX_LENGTH} lower-case letters, digits, `-` and `_`, a letter first"
        ));
    }
    let ident = text.replace('-', "_");
    if is_reserved_package(&ident) || is_keyword(&ident) {
        return Err("Rust reserves this name".to_owned());
    }
    Ok(text.to_owned())
}

/// Checks the name of a field, such as `seats`.
pub(crate) fn parse_field_name(name: &str) -> Result<String, String> {
    let starts_lower = name.starts_with(|one: char| one.is_ascii_lowercase());
    if !starts_lower || !is_ascii_ident(name) || name.len() > MAX_LENGTH {
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
    if is_keyword(name) {
        return Err(format!(
            "`{name}` is a keyword of Rust and cannot name a field"
        ));
    }
    Ok(name.to_owned())
}

fn is_ascii_ident(text: &str) -> bool {
    text.starts_with(|one: char| one.is_ascii_alphabetic())
        && text
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || one == '_')
}

/// Returns whether Rust reserves an identifier. The parser does not know the newest keyword yet.
pub(crate) fn is_keyword(ident: &str) -> bool {
    ident == "gen" || syn::parse_str::<syn::Ident>(ident).is_err()
}

/// Returns whether a name means something else to Cargo, or in an application.
fn is_reserved_package(name: &str) -> bool {
    matches!(name, "build" | "deps" | "examples" | "incremental" | "test")
        || matches!(name, "alloc" | "core" | "proc_macro" | "std")
        || matches!(name, "es_framework" | "serde_json" | "tokio")
}

fn is_reserved_module(name: &str) -> bool {
    matches!(name, "lib" | "main" | "tests")
        || matches!(name, "alloc" | "core" | "es_framework" | "std")
}

/// Returns whether a type of this name would hide another one in a generated file.
fn is_name_of_templates(name: &str) -> bool {
    matches!(name, "Err" | "None" | "Ok" | "Option" | "Result" | "Some")
        || matches!(name, "Date" | "String" | "Timestamp" | "Uuid" | "Vec")
        || matches!(name, "Page" | "QueryContext" | "QueryError")
        || matches!(name, "ReactionKey" | "RecordedEvent" | "Self")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn type_error(text: &str) -> String {
        TypeName::plain(text).unwrap_err()
    }

    #[test]
    fn a_suffix_is_not_repeated() {
        for text in ["BorrowBook", "BorrowBookCommand"] {
            let name = TypeName::command(text).unwrap();
            assert_eq!(name.to_string(), "BorrowBookCommand");
            assert_eq!(name.snake_case(), "borrow_book");
            assert_eq!(name.to_doc_sentence(), "Borrow book.");
        }
        assert_eq!(TypeName::event("Event").unwrap().to_string(), "EventEvent");
    }

    #[test]
    fn the_end_of_a_path_names_a_type() {
        let path = "crate::lending::BookBorrowedEvent";
        for text in [
            "BookBorrowed",
            "lending::BookBorrowedEvent",
            "crate::lending::BookBorrowed",
        ] {
            assert!(TypePath::event(text).unwrap().ends(path), "{text}");
        }
        for text in [
            "Borrowed",
            "ending::BookBorrowed",
            "crate::BookBorrowed",
            "::BookBorrowed",
        ] {
            assert!(!TypePath::event(text).unwrap().ends(path), "{text}");
        }
        assert!(TypePath::event("lending::").is_err());
    }

    #[test]
    fn names_that_do_not_compile_are_refused() {
        assert!(type_error("borrow_book").ends_with("write `BorrowBook`"));
        for text in ["Match", "Gen", "Lib"] {
            let module = text.to_lowercase();
            assert_eq!(
                type_error(text),
                format!("`{module}` cannot be the name of its module")
            );
        }
        for text in ["Uuid", "Page", "Result", "RecordedEvent"] {
            assert!(type_error(text).contains("that generated files use"));
        }
        assert!(TypeName::event("Recorded").is_err());
        for text in ["", "1st", "Bück", "Borrow Book", &"Ab".repeat(13)] {
            assert!(
                type_error(text).starts_with("a type is named with"),
                "{text}"
            );
        }
        for text in ["", "Library", "my library", "../library", "1st", "-a"] {
            assert!(parse_package_name(text).is_err(), "{text}");
        }
        for text in ["test", "self", "es-framework"] {
            let error = parse_package_name(text).unwrap_err();
            assert_eq!(error, "Rust reserves this name");
        }
        assert!(parse_field_name("type").unwrap_err().contains("keyword"));
        assert!(
            parse_field_name("dueAt")
                .unwrap_err()
                .ends_with("write `due_at`")
        );
        assert!(parse_field_name("due_at").is_ok());
    }
}
