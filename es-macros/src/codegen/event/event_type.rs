//! The fully qualified type of an event: the package, a dot and the name.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Ident, LitInt, LitStr, ext::IdentExt as _};
use toml::Value;

use crate::codegen::{errors::Errors, manifest::Manifest};

/// A type such as `com.example.library.BookPurchasedEvent`.
#[derive(Debug)]
pub(crate) struct EventType {
    pub(crate) text: String,
    /// True if the package comes from Cargo.toml.
    follows_manifest: bool,
}

impl EventType {
    /// Makes the compiler depend on Cargo.toml if the package comes from there, because Cargo does not recompile after a
    /// change of its metadata.
    pub(crate) fn expand_manifest_dependency(&self) -> Option<TokenStream> {
        self.follows_manifest.then(|| {
            quote! {
                const _: &str = ::core::include_str!(
                    ::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")
                );
            }
        })
    }
}

/// The keys of an attribute that name a type.
pub(crate) struct TypeKeys<'a> {
    /// The name of the attribute, for messages.
    pub(crate) attribute: &'static str,
    pub(crate) package: Option<&'a LitStr>,
    /// True if the attribute contains a package, even one that could not be parsed.
    pub(crate) has_package: bool,
    pub(crate) name: Option<&'a LitStr>,
}

impl TypeKeys<'_> {
    /// Builds the type from the package, the name and the text that ends it. The event store requires at least three
    /// segments of ASCII letters, digits, `-` and `_`, the first one with at least two characters.
    pub(crate) fn build_type(
        &self,
        ident: &Ident,
        suffix: &str,
        manifest: &Manifest,
        errors: &mut Errors,
    ) -> Option<EventType> {
        let package = match self.package {
            Some(package) => pinned_package(package, errors),
            // An error for the package is already recorded.
            None if self.has_package => None,
            None => manifest_package(ident, self.attribute, manifest, errors),
        };
        let name = name(ident, self, errors);
        let text = format!("{}.{}{suffix}", package?, name?);
        if text.len() > MAX_LENGTH {
            let message = format!(
                "the type of this event has {} characters, of which the event store takes {MAX_LENGTH}: shorten its package or its name",
                text.len()
            );
            errors.record(ident, message);
            return None;
        }
        Some(EventType {
            text,
            follows_manifest: self.package.is_none(),
        })
    }
}

/// The maximum length of an event type in bytes.
const MAX_LENGTH: usize = 512;

fn pinned_package(package: &LitStr, errors: &mut Errors) -> Option<String> {
    let text = package.value();
    if is_package(&text) {
        return Some(text);
    }
    errors.record(package, malformed(&text));
    None
}

fn manifest_package(
    ident: &Ident,
    attribute: &str,
    manifest: &Manifest,
    errors: &mut Errors,
) -> Option<String> {
    let message = match manifest.event_package() {
        Some(Value::String(package)) if is_package(package) => return Some(package.clone()),
        Some(Value::String(package)) => format!(
            "{}, in `[package.metadata.es-framework]` of Cargo.toml",
            malformed(package)
        ),
        Some(_) => "`package` in `[package.metadata.es-framework]` of Cargo.toml is a text: write `package = \"com.example.library\"`".to_owned(),
        None => format!(
            "the events of this crate have no package to precede their names: add these lines to Cargo.toml\n\n    [package.metadata.es-framework]\n    package = \"com.example.library\"\n\nor name one for this event alone with `#[{attribute}(package = \"com.example.library\")]`"
        ),
    };
    errors.record(ident, message);
    None
}

fn malformed(package: &str) -> String {
    format!(
        "`{package}` is no package: write two segments or more of ASCII letters, digits, `-` and `_` with dots between them, such as `com.example.library`"
    )
}

fn name(ident: &Ident, keys: &TypeKeys<'_>, errors: &mut Errors) -> Option<String> {
    match keys.name {
        Some(name) => {
            let text = name.value();
            if text.split('.').all(is_segment) {
                return Some(text);
            }
            let message = format!(
                "`{text}` is no name: write ASCII letters, digits, `-` and `_`, such as `{ident}`"
            );
            errors.record(name, message);
            None
        }
        None => {
            let text = ident.unraw().to_string();
            if is_segment(&text) {
                return Some(text);
            }
            let message = format!(
                "`{text}` cannot end an event's type: name the struct in ASCII letters, or write `#[{}(name = \"…\")]`",
                keys.attribute
            );
            errors.record(ident, message);
            None
        }
    }
}

/// Returns the suffix of the second and later versions. The first version has no suffix.
pub(super) fn suffix(version: &LitInt, errors: &mut Errors) -> String {
    match version.base10_parse::<u32>() {
        Ok(number @ 2..) => format!(".v{number}"),
        Ok(_) => {
            let message = "the first version of an event has no number: remove `version`, or write `version = 2` for the one after it";
            errors.record(version, message);
            String::new()
        }
        Err(_) => {
            let message = "a version is a small whole number: write `version = 2`";
            errors.record(version, message);
            String::new()
        }
    }
}

fn is_package(text: &str) -> bool {
    let mut segments = text.split('.');
    segments.clone().count() >= 2
        && segments.clone().all(is_segment)
        && segments.next().is_some_and(|first| first.len() >= 2)
}

fn is_segment(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !text.is_empty() && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::event::attr::EventAttr;

    #[test]
    fn packages_follow_the_rule_of_the_event_store() {
        for package in ["com.example", "com.example.library", "io.a-b.c_d", "a1.b"] {
            assert!(is_package(package), "{package}");
        }
        for package in [
            "",
            "library",
            "c.example",
            "com.",
            ".com",
            "com..a",
            "com.ex ample",
        ] {
            assert!(!is_package(package), "{package}");
        }
    }

    fn resolve(attr: &EventAttr, manifest: &str) -> Result<String, Vec<String>> {
        let mut errors = Errors::default();
        let ident = syn::parse_str("BookPurchasedEvent").unwrap();
        let found = attr.build_type(&ident, &Manifest::parse(manifest), &mut errors);
        found.map(|found| found.text).ok_or(errors.messages())
    }

    #[test]
    fn the_type_is_the_package_and_the_name() {
        let manifest = "[package.metadata.es-framework]\npackage = \"com.example.library\"";
        let expected = "com.example.library.BookPurchasedEvent";
        assert_eq!(
            resolve(&EventAttr::default(), manifest).as_deref(),
            Ok(expected)
        );
        let pinned = EventAttr {
            package: Some(syn::parse_quote!("org.other")),
            name: Some(syn::parse_quote!("Bought.v2")),
            has_package: true,
            ..EventAttr::default()
        };
        assert_eq!(
            resolve(&pinned, manifest).as_deref(),
            Ok("org.other.Bought.v2")
        );
    }

    #[test]
    fn a_later_version_ends_the_type() {
        let second = |name| EventAttr {
            version: Some(syn::parse_quote!(2)),
            name,
            ..EventAttr::default()
        };
        let manifest = "[package.metadata.es-framework]\npackage = \"com.example.library\"";
        for (attr, expected) in [
            (second(None), "com.example.library.BookPurchasedEvent.v2"),
            (
                second(Some(syn::parse_quote!("Bought"))),
                "com.example.library.Bought.v2",
            ),
        ] {
            assert_eq!(resolve(&attr, manifest).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn a_manifest_that_says_it_wrong_is_corrected() {
        for (manifest, words) in [
            ("[package]", "add these lines to Cargo.toml"),
            ("[package.metadata.es-framework]\npackage = 1", "is a text"),
            (
                "[package.metadata.es-framework]\npackage = \"library\"",
                "`library` is no package",
            ),
        ] {
            let messages = resolve(&EventAttr::default(), manifest).unwrap_err();
            assert_eq!(messages.len(), 1);
            assert!(messages[0].contains(words), "{messages:?}");
        }
    }
}
