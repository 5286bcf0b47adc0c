//! Templates of subjects and paths, such as `/books/{id}`.

use crate::{
    error::ToolError,
    field::{Field, check_distinct},
    names::parse_field_name,
};

/// Longer templates would not fit into one line.
const MAX_LENGTH: usize = 70;

/// The template of a subject or of the path of a route.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathTemplate {
    noun: &'static str,
    pub(crate) text: String,
    /// The names of its fields.
    pub(crate) fields: Vec<String>,
}

impl PathTemplate {
    pub(crate) fn subject(text: &str) -> Result<Self, String> {
        let template = Self::parse("subject", text)?;
        // The first segment is the first part of the route, too.
        if text.starts_with("/{") {
            return Err("a subject starts with fixed text, as in `/books/{id}`".to_owned());
        }
        Ok(template)
    }

    pub(crate) fn path(text: &str) -> Result<Self, String> {
        Self::parse("path", text)
    }

    fn parse(noun: &'static str, text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!("a {noun} starts with `/`, as in `/books/{{id}}`"));
        };
        if text.len() > MAX_LENGTH {
            return Err(format!("a {noun} has at most {MAX_LENGTH} characters here"));
        }
        let mut fields = Vec::new();
        for segment in rest.split('/') {
            if segment.is_empty() {
                return Err(format!(
                    "a {noun} has a text or a field after each `/`, as in `/books/{{id}}`"
                ));
            }
            let inside = segment
                .strip_prefix('{')
                .and_then(|rest| rest.strip_suffix('}'));
            if let Some(field) = inside {
                let field = parse_field_name(field)?;
                if fields.contains(&field) {
                    return Err(format!("the {noun} holds `{{{field}}}` twice"));
                }
                fields.push(field);
            } else if let Some(foreign) = segment.chars().find(|one| !is_allowed(*one)) {
                return Err(format!(
                    "a {noun} holds ASCII letters, digits, `-`, `_` and whole segments in braces, not {foreign:?} in `{segment}`"
                ));
            }
        }
        let text = text.to_owned();
        Ok(Self { noun, text, fields })
    }

    /// Returns the first segment, which is fixed text in a subject.
    pub(crate) fn first_segment(&self) -> &str {
        self.text.split('/').nth(1).unwrap_or_default()
    }

    /// Returns the fields of a declaration: those of the command line, after an `id` that the template
    /// names and the command line does not.
    ///
    /// # Errors
    /// Fails if the template names any other field that the command line does not, or one whose type
    /// cannot be a part of a subject, or if two fields have the same name.
    pub(crate) fn complete_fields(&self, fields: &[Field]) -> Result<Vec<Field>, ToolError> {
        check_distinct(fields)?;
        let (noun, mut fields) = (self.noun, fields.to_vec());
        for name in &self.fields {
            match fields.iter().find(|field| field.name == *name) {
                Some(field) if !field.field_type.can_fill_subject() => {
                    return Err(ToolError::new(format!(
                        "`{name}` is a part of the {noun}, which a {} cannot be: make it a Uuid, a String or an integer",
                        field.field_type.to_rust_type()
                    )));
                }
                Some(_) => {}
                None if name == "id" => fields.insert(0, Field::default_id_field()?),
                None => {
                    return Err(ToolError::new(format!(
                        "the {noun} {} names a field `{name}` that is missing: add `--field {name}:Uuid`",
                        self.text
                    )));
                }
            }
        }
        Ok(fields)
    }
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(text: &str) -> PathTemplate {
        PathTemplate::subject(text).unwrap()
    }

    fn error_of(subject_text: &str, field: &str) -> String {
        let fields = [field.parse().unwrap()];
        let error = subject(subject_text).complete_fields(&fields).unwrap_err();
        error.to_string()
    }

    #[test]
    fn an_id_needs_no_option_and_any_other_field_of_a_subject_does() {
        let reader: Field = "reader:Uuid".parse().unwrap();
        let fields = subject("/books/{id}").complete_fields(std::slice::from_ref(&reader));
        assert_eq!(
            fields.unwrap(),
            [Field::default_id_field().unwrap(), reader]
        );
        assert_eq!(
            error_of("/readers/{reader}", "id:Uuid"),
            "the subject /readers/{reader} names a field `reader` that is missing: add `--field reader:Uuid`"
        );
        assert_eq!(
            error_of("/books/{id}", "id:f64"),
            "`id` is a part of the subject, which a f64 cannot be: make it a Uuid, a String or an integer"
        );
    }

    #[test]
    fn subjects_that_do_not_compile_are_refused() {
        for text in [
            "",
            "books",
            "/",
            "//",
            "/books/",
            "/books//{id}",
            "/books/{id",
            "/books/id}",
            "/{id}",
            "/books/{}",
            "/books/a{id}",
            "/books/{id}/{id}",
            "/books/{Id}",
            "/books/{type}",
            "/bücher",
            "/a b",
            "/a\"b",
            &format!("/{}", "a".repeat(70)),
        ] {
            assert!(PathTemplate::subject(text).is_err(), "{text}");
        }
        let rows = subject("/rooms/{room}/rows/{row}");
        assert_eq!(rows.fields, ["room", "row"]);
        assert_eq!(rows.first_segment(), "rooms");
    }
}
