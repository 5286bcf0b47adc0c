//! Parses the detail of a rejection, with fields in braces: `the copy is lent until {due_at}`.

use syn::{Ident, LitStr, ext::IdentExt as _};

use crate::codegen::{errors::Errors, naming};

/// A detail whose fields all exist.
pub(crate) struct DetailTemplate {
    pub(crate) text: LitStr,
    /// The fields in the detail.
    pub(crate) fields: Vec<Ident>,
}

/// Parses the detail. The generated code passes it to `write!` unchanged.
pub(crate) fn parse_detail(
    text: &LitStr,
    known: &[Ident],
    errors: &mut Errors,
) -> Option<DetailTemplate> {
    let names = match names(&text.value()) {
        Ok(names) => names,
        Err(message) => {
            errors.record(text, message);
            return None;
        }
    };
    let known_names = known.iter().map(|field| field.unraw().to_string());
    for name in &names {
        if !known_names.clone().any(|known| known == *name) {
            let message = naming::no_such_field("the refusal", name, known_names.clone());
            errors.record(text, message);
        }
    }
    let is_shown = |field: &&Ident| names.contains(&field.unraw().to_string());
    Some(DetailTemplate {
        text: text.clone(),
        fields: known.iter().filter(is_shown).cloned().collect(),
    })
}

/// Returns the names in braces without duplicates, or a description of the mistake.
fn names(text: &str) -> Result<Vec<String>, String> {
    let mut names = vec![];
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (_, from_brace) = rest.split_at(at);
        if let Some(after) = ["{{", "}}"]
            .iter()
            .find_map(|two| from_brace.strip_prefix(two))
        {
            rest = after;
            continue;
        }
        let Some(inside) = from_brace.strip_prefix('{') else {
            return Err(
                "a closing brace has no opening one: write `}}` for the brace itself".to_owned(),
            );
        };
        let Some((placeholder, after)) = inside.split_once('}') else {
            return Err(
                "an opening brace has no closing one: write `{{` for the brace itself".to_owned(),
            );
        };
        let name = name(placeholder)?;
        if !names.contains(&name) {
            names.push(name);
        }
        rest = after;
    }
    Ok(names)
}

/// Returns the field of a placeholder such as `price:.2`.
fn name(placeholder: &str) -> Result<String, String> {
    let (name, format) = placeholder.split_once(':').unwrap_or((placeholder, ""));
    let name = name.trim();
    if name.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!(
            "`{{{placeholder}}}` names no field: write the field's name in the braces, as in `{{due_at}}`"
        ));
    }
    if format.contains(['$', '*']) {
        return Err(format!(
            "the width in `{{{placeholder}}}` is no number: write it out, as in `{{{name}:8}}`"
        ));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_braces_are_found_once_each() {
        for (text, expected) in [
            ("the copy is lent", vec![]),
            (
                "until {due_at}, {due_at:?} or { reader }",
                vec!["due_at", "reader"],
            ),
            ("{{due_at}} {{{price:.2}}}", vec!["price"]),
        ] {
            assert_eq!(names(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn braces_that_make_no_sense_are_explained() {
        for (text, words) in [
            ("until {due_at", "`{{`"),
            ("until due_at}", "`}}`"),
            ("until {}", "names no field"),
            ("until {0}", "names no field"),
            ("{price:width$}", "is no number"),
        ] {
            let message = names(text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
    }
}
