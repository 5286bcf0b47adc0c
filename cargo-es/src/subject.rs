//! Templates of subjects and paths, such as `/books/{id}`.

use std::str::FromStr;

use crate::{
    error::ToolError,
    field::{Field, check_distinct},
    names::check_field_name,
};

/// Longer templates would not fit into one line.
const MAX_LENGTH: usize = 70;

/// The template of a subject.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SubjectTemplate(Segments);

/// The template of the path of a route.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathTemplate(Segments);

#[derive(Debug, Clone, PartialEq)]
struct Segments {
    text: String,
    fields: Vec<String>,
}

impl SubjectTemplate {
    pub(crate) fn as_str(&self) -> &str {
        &self.0.text
    }

    /// Returns the names of the fields: the key of a read model.
    pub(crate) fn field_names(&self) -> &[String] {
        &self.0.fields
    }

    /// Returns true if subjects can have this template and another one. A field matches each text.
    pub(crate) fn may_match(&self, other: &str) -> bool {
        let is_field = |segment: &str| segment.starts_with('{');
        let (own, others) = (self.0.text.split('/'), other.split('/'));
        own.clone().count() == others.clone().count()
            && own
                .zip(others)
                .all(|(one, other)| one == other || is_field(one) || is_field(other))
    }

    /// Returns the first segment, which is fixed text.
    pub(crate) fn first_segment(&self) -> &str {
        let mut segments = self.0.text.split('/').skip(1);
        segments.next().unwrap_or_default()
    }

    /// Returns the fields of a declaration: those of the command line, after an `id` that the template
    /// names and the command line does not.
    ///
    /// # Errors
    /// Fails if the template names any other field that the command line does not, or one whose type
    /// cannot be a part of a subject, or if two fields have the same name.
    pub(crate) fn complete_fields(&self, fields: &[Field]) -> Result<Vec<Field>, ToolError> {
        self.0.complete_fields("subject", fields)
    }
}

impl PathTemplate {
    pub(crate) fn as_str(&self) -> &str {
        &self.0.text
    }

    pub(crate) fn has_fields(&self) -> bool {
        !self.0.fields.is_empty()
    }

    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.0.fields.iter().any(|field| field == name)
    }

    /// As [`SubjectTemplate::complete_fields`].
    pub(crate) fn complete_fields(&self, fields: &[Field]) -> Result<Vec<Field>, ToolError> {
        self.0.complete_fields("path", fields)
    }
}

impl FromStr for SubjectTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let segments = Segments::parse("subject", text)?;
        // The first segment is the first part of the route, too.
        if text.starts_with("/{") {
            Err("a subject starts with fixed text, as in `/books/{id}`".to_owned())
        } else {
            Ok(Self(segments))
        }
    }
}

impl FromStr for PathTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Segments::parse("path", text).map(Self)
    }
}

impl Segments {
    fn parse(noun: &str, text: &str) -> Result<Self, String> {
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
                check_field_name(field)?;
                if fields.iter().any(|earlier| earlier == field) {
                    return Err(format!("the {noun} holds `{{{field}}}` twice"));
                }
                fields.push(field.to_owned());
            } else if let Some(foreign) = segment.chars().find(|one| !is_allowed(*one)) {
                return Err(format!(
                    "a {noun} holds ASCII letters, digits, `-`, `_` and whole segments in braces, not {foreign:?} in `{segment}`"
                ));
            }
        }
        let text = text.to_owned();
        Ok(Self { text, fields })
    }

    fn complete_fields(&self, noun: &str, fields: &[Field]) -> Result<Vec<Field>, ToolError> {
        check_distinct(fields)?;
        let mut fields = fields.to_vec();
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

    fn subject(text: &str) -> SubjectTemplate {
        text.parse().unwrap()
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
            assert!(text.parse::<SubjectTemplate>().is_err(), "{text}");
        }
        let rows = subject("/rooms/{room}/rows/{row}");
        assert_eq!(rows.field_names(), ["room", "row"]);
        assert_eq!(rows.first_segment(), "rooms");
    }
}
