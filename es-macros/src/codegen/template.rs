//! Parses templates of subjects and paths: `/books/{id}` is fixed text with a field in one segment.

use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use super::{errors::Errors, framework::Framework};

/// A well-formed template. Other checks find fields that do not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    segments: Vec<Segment>,
}

/// The part between two slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Fixed text.
    Fixed(String),
    /// The name of a field.
    Field(String),
}

/// The kind of a template, which determines error messages and allowed characters.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TemplateKind {
    /// The characters that the event store allows.
    Subject,
    /// The unreserved characters of RFC 3986, section 2.3.
    Path,
}

impl TemplateKind {
    fn name(self) -> &'static str {
        match self {
            Self::Subject => "subject",
            Self::Path => "path",
        }
    }

    fn allowed(self) -> &'static str {
        match self {
            Self::Subject => "ASCII letters, digits, `-` and `_`",
            Self::Path => "ASCII letters, digits, `-`, `_`, `.` and `~`",
        }
    }

    fn allows(self, character: char) -> bool {
        let extra = match self {
            Self::Subject => "-_",
            Self::Path => "-_.~",
        };
        character.is_ascii_alphanumeric() || extra.contains(character)
    }
}

impl Template {
    /// Parses a template and records a mistake at `at`.
    pub(crate) fn parse_or_record(
        written: &str,
        kind: TemplateKind,
        at: &LitStr,
        errors: &mut Errors,
    ) -> Option<Self> {
        match Self::parse(written, kind) {
            Ok(template) => Some(template),
            Err(message) => {
                errors.record(at, message);
                None
            }
        }
    }

    /// Parses a template.
    ///
    /// # Errors
    /// Returns the first mistake and its correction.
    pub(crate) fn parse(text: &str, kind: TemplateKind) -> Result<Self, String> {
        let name = kind.name();
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!("a {name} starts with `/`: write `\"/{text}\"`"));
        };
        if rest.is_empty() {
            return Ok(Self { segments: vec![] });
        }
        if let Some(shorter) = rest.strip_suffix('/') {
            return Err(format!(
                "a {name} does not end with `/`: write `\"/{shorter}\"`"
            ));
        }
        let parsed = rest.split('/').map(|segment| Segment::parse(segment, kind));
        let segments = parsed.collect::<Result<_, _>>()?;
        let template = Self { segments };
        match template.repeated_field() {
            None => Ok(template),
            Some(field) => Err(format!(
                "the {name} holds `{{{field}}}` twice: once is enough"
            )),
        }
    }

    fn repeated_field(&self) -> Option<&str> {
        let fields: Vec<_> = self.fields().collect();
        let mut earlier = std::collections::BTreeSet::new();
        fields.into_iter().find(|field| !earlier.insert(*field))
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the names of the fields in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Field(name) => Some(name.as_str()),
            Segment::Fixed(_) => None,
        })
    }

    /// Returns the text before the first field, without a final slash.
    pub(crate) fn head(&self) -> String {
        let mut head = String::new();
        for segment in &self.segments {
            let Segment::Fixed(text) = segment else {
                break;
            };
            head.push('/');
            head.push_str(text);
        }
        head
    }

    /// Returns the template as text. `name` maps the names of its fields.
    pub(crate) fn render(&self, name: impl Fn(&str) -> String) -> String {
        if self.segments.is_empty() {
            return "/".to_owned();
        }
        let mut text = String::new();
        for segment in &self.segments {
            match segment {
                Segment::Fixed(fixed) => text.push_str(&format!("/{fixed}")),
                Segment::Field(field) => text.push_str(&format!("/{{{}}}", name(field))),
            }
        }
        text
    }
}

/// Generates the parts of a subject: fixed text and fields. Neighbouring fixed texts are joined.
/// `field` generates the part of a field.
pub(crate) fn subject_parts(
    template: &Template,
    framework: &Framework,
    field: impl Fn(&str) -> Option<TokenStream>,
) -> Vec<TokenStream> {
    let part = quote!(#framework::event::SubjectTemplatePart);
    let mut parts = vec![];
    let mut text = String::new();
    for segment in template.segments() {
        text.push('/');
        match segment {
            Segment::Fixed(fixed) => text.push_str(fixed),
            Segment::Field(name) => {
                parts.push(quote!(#part::Text(#text)));
                text.clear();
                parts.extend(field(name));
            }
        }
    }
    if parts.is_empty() && text.is_empty() {
        text.push('/');
    }
    if !text.is_empty() {
        parts.push(quote!(#part::Text(#text)));
    }
    parts
}

impl Segment {
    /// Parses one segment: fixed text or a field in braces.
    fn parse(text: &str, kind: TemplateKind) -> Result<Self, String> {
        let name = kind.name();
        if text.is_empty() {
            return Err(format!(
                "a {name} has no empty segment: write one `/` where there are two"
            ));
        }
        match (text.find('{'), text.find('}')) {
            (None, None) => return Self::fixed(text, kind),
            (Some(_), None) => {
                return Err(format!(
                    "`{text}` lacks its closing brace: write `{text}}}`"
                ));
            }
            (None, Some(_)) => {
                return Err(format!(
                    "`{text}` lacks its opening brace: write `{{{text}`"
                ));
            }
            (Some(_), Some(_)) => {}
        }
        let field = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'))
            .filter(|field| !field.contains(['{', '}']));
        match field {
            None => Err(format!(
                "a field fills a whole segment of the {name}: put a `/` around the braces in `{text}`"
            )),
            Some("") => {
                Err("there is no field between the braces: write its name, as in `{id}`".to_owned())
            }
            Some(field) => Ok(Self::Field(field.to_owned())),
        }
    }

    fn fixed(text: &str, kind: TemplateKind) -> Result<Self, String> {
        match text.chars().find(|character| !kind.allows(*character)) {
            None => Ok(Self::Fixed(text.to_owned())),
            Some(foreign) => Err(format!(
                "a {} holds {} between its slashes, not {foreign:?}",
                kind.name(),
                kind.allowed()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::codegen::naming;

    use super::*;

    fn parse(text: &str) -> Result<Template, String> {
        Template::parse(text, TemplateKind::Subject)
    }

    #[test]
    fn a_template_gives_its_head_its_fields_and_its_text() {
        let template = parse("/books/{id}/pages/{page_number}").unwrap();
        assert_eq!(template.head(), "/books");
        assert_eq!(template.fields().collect::<Vec<_>>(), ["id", "page_number"]);
        assert_eq!(
            template.render(naming::camel_case),
            "/books/{id}/pages/{pageNumber}"
        );
        assert_eq!(parse("/").unwrap().render(str::to_owned), "/");
        assert_eq!(parse("/{id}").unwrap().head(), "");
    }

    #[test]
    fn what_is_malformed_is_told_how_to_write_it() {
        for (text, message) in [
            (
                "books/{id}",
                "a subject starts with `/`: write `\"/books/{id}\"`",
            ),
            (
                "/books/",
                "a subject does not end with `/`: write `\"/books\"`",
            ),
            (
                "/books//{id}",
                "a subject has no empty segment: write one `/` where there are two",
            ),
            ("/books/{id", "`{id` lacks its closing brace: write `{id}`"),
            ("/books/id}", "`id}` lacks its opening brace: write `{id}`"),
            (
                "/books/b-{id}",
                "a field fills a whole segment of the subject: put a `/` around the braces in `b-{id}`",
            ),
            (
                "/books/{a}{b}",
                "a field fills a whole segment of the subject: put a `/` around the braces in `{a}{b}`",
            ),
            (
                "/books/}{",
                "a field fills a whole segment of the subject: put a `/` around the braces in `}{`",
            ),
            (
                "/books/{}",
                "there is no field between the braces: write its name, as in `{id}`",
            ),
            (
                "/my books",
                "a subject holds ASCII letters, digits, `-` and `_` between its slashes, not ' '",
            ),
            (
                "/books/{id}/{id}",
                "the subject holds `{id}` twice: once is enough",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err(), message);
        }
    }

    #[test]
    fn a_path_may_hold_more_than_a_subject() {
        assert!(Template::parse("/v1.0/books", TemplateKind::Path).is_ok());
        assert!(parse("/v1.0/books").is_err());
        assert!(Template::parse("/a?b", TemplateKind::Path).is_err());
    }
}
