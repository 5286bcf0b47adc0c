//! Derives names from other names, and suggests corrections of misspelt ones.

use heck::{ToKebabCase as _, ToSnakeCase as _, ToUpperCamelCase as _};
use syn::{Ident, ext::IdentExt as _};

/// Returns the JSON name of a field, like serde's `rename_all = "camelCase"`.
pub(crate) fn camel_case(field: &str) -> String {
    let mut name = String::with_capacity(field.len());
    for word in field.split('_').filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at_checked(1).unwrap_or((word, ""));
        if name.is_empty() {
            name.push_str(&first.to_ascii_lowercase());
        } else {
            name.push_str(&first.to_ascii_uppercase());
        }
        name.push_str(rest);
    }
    name
}

/// Returns the identifier of a field: `r#type` for the keyword `type`.
pub(crate) fn field_ident(name: &str) -> Option<Ident> {
    let field = syn::parse_str(name);
    field.or_else(|_| syn::parse_str(&format!("r#{name}"))).ok()
}

/// Returns the JSON name of a variant, like serde's `rename_all = "camelCase"`.
pub(crate) fn lower_camel_case(variant: &str) -> String {
    let (first, rest) = variant.split_at_checked(1).unwrap_or((variant, ""));
    first.to_ascii_lowercase() + rest
}

/// Returns the name of a column.
pub(crate) fn snake_case(field: &str) -> String {
    field.to_snake_case()
}

/// Returns the name of a field's column.
pub(crate) fn column_name(field: &Ident) -> String {
    snake_case(&field.unraw().to_string())
}

/// Returns the machine-readable name of a rejection.
pub(crate) fn kebab_case(ident: &Ident) -> String {
    ident.unraw().to_string().to_kebab_case()
}

/// Returns the words of a command's name in lower case, without a final `Command`.
fn words(command: &Ident) -> Vec<String> {
    let name = command.unraw().to_string();
    let stem = match name.strip_suffix("Command") {
        Some(stem) if !stem.is_empty() => stem,
        _ => &name,
    };
    stem.to_snake_case().split('_').map(str::to_owned).collect()
}

/// Returns the verb at the end of a command's path: `purchase` for `PurchaseBookCommand`.
pub(crate) fn verb_of(command: &Ident) -> String {
    words(command).into_iter().next().unwrap_or_default()
}

/// Returns a summary for an undocumented command, `Purchase book` for `PurchaseBookCommand`, or a
/// title for an undocumented rejection.
pub(crate) fn sentence_of(command: &Ident) -> String {
    let mut words = words(command).into_iter();
    let first = words.next().unwrap_or_default().to_upper_camel_case();
    std::iter::once(first)
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the end of a message about an unknown name.
pub(crate) fn known_names_hint(word: &str, known: &[&str], noun: &str) -> String {
    match (closest(word, known), known) {
        (Some(meant), _) => format!("did you mean `{meant}`?"),
        (None, []) => "there is none".to_owned(),
        (None, [only]) => format!("the only {noun} is `{only}`"),
        (None, known) => format!("the {noun}s are {}", join_names(known)),
    }
}

/// Returns the message about an unknown field. `owner` is for example `the command`.
pub(crate) fn no_such_field(
    whose: &str,
    word: &str,
    fields: impl IntoIterator<Item = String>,
) -> String {
    let names: Vec<_> = fields.into_iter().collect();
    let known: Vec<_> = names.iter().map(String::as_str).collect();
    let meant = known_names_hint(word, &known, "field");
    format!("{whose} has no field `{word}`: {meant}")
}

/// Returns the known name that is most similar to a misspelt one.
pub(crate) fn closest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (distance, name) = known
        .iter()
        .map(|name| (strsim::osa_distance(word, name), *name))
        .min()?;
    // Names that differ in more than a third of their letters are not similar.
    let tolerated = word.chars().count().max(3).div_euclid(3);
    (distance <= tolerated).then_some(name)
}

/// Formats names as a list: `a`, `b` and `c`.
pub(crate) fn join_names(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ident(name: &str) -> Ident {
        syn::parse_str(name).unwrap()
    }

    #[test]
    fn a_field_is_in_camel_case_on_the_wire() {
        for (field, wire) in [
            ("id", "id"),
            ("num_pages", "numPages"),
            ("_hidden", "hidden"),
            ("due__at_", "dueAt"),
            ("line_2", "line2"),
            ("isbn13", "isbn13"),
            ("ISBN", "iSBN"),
            ("__", ""),
        ] {
            assert_eq!(camel_case(field), wire);
        }
    }

    #[test]
    fn a_field_may_be_called_like_a_word_of_the_language() {
        for (name, expected) in [
            ("reader", Some("reader")),
            ("type", Some("r#type")),
            ("self", None),
            ("2", None),
        ] {
            let field = field_ident(name).map(|field| field.to_string());
            assert_eq!(field.as_deref(), expected);
        }
    }

    #[test]
    fn the_verb_is_the_first_word_of_the_command() {
        for (command, expected) in [
            ("PurchaseBookCommand", "purchase"),
            ("ReturnBook", "return"),
            ("Command", "command"),
            ("RegisterISBNCommand", "register"),
        ] {
            assert_eq!(verb_of(&ident(command)), expected);
        }
    }

    #[test]
    fn an_undocumented_command_is_its_words() {
        assert_eq!(sentence_of(&ident("PurchaseBookCommand")), "Purchase book");
        assert_eq!(sentence_of(&ident("Borrow")), "Borrow");
    }

    #[test]
    fn a_misspelt_name_finds_the_one_that_was_meant() {
        let known = ["subject", "condition", "path"];
        assert_eq!(closest("sujbect", &known), Some("subject"));
        assert_eq!(closest("pth", &known), Some("path"));
        assert_eq!(closest("paht", &known), Some("path"));
        assert_eq!(closest("table", &known), None);
        assert_eq!(
            known_names_hint("table", &known, "key"),
            "the keys are `subject`, `condition` and `path`"
        );
    }
}
