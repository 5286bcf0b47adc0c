//! The path that names the subject of an event.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text_visitor::deserialize_text;

/// A path such as `/books/0190…`. Its segments consist of ASCII letters, digits, `-` and `_`.
///
/// The event store's rule is `^/([0-9A-Za-z_-]+/)*([0-9A-Za-z_-]+/?)?$`. It leaves out one slash at the end:
/// `/books/42/` is `/books/42`.
///
/// ```
/// use es_event::Subject;
///
/// let subject: Subject = "/books/42".parse()?;
/// assert!(subject.is_within(&Subject::root()));
/// assert_eq!("/books/42/".parse::<Subject>()?, subject);
/// assert!("books".parse::<Subject>().is_err());
/// # Ok::<_, es_event::InvalidSubject>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject(Arc<str>);

/// The error for a string that is not a subject.
///
/// ```
/// use es_event::Subject;
///
/// let error = "/books/The Ring".parse::<Subject>().unwrap_err();
/// assert!(error.to_string().starts_with(r#"malformed subject "/books/The Ring""#));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "malformed subject {text:?}: a subject starts with '/' and its segments hold only ASCII letters, digits, '-' and '_'"
)]
pub struct InvalidSubject {
    text: Box<str>,
}

/// The maximum length of a subject in bytes. The protocol defines no limit.
const MAX_LENGTH: usize = 2_048;

impl Subject {
    /// Returns the subject `/`, the ancestor of all subjects.
    #[must_use]
    pub fn root() -> Self {
        Self("/".into())
    }

    /// Fills a subject template: joins its fixed texts and the field values.
    ///
    /// # Errors
    /// Fails if a field value is empty or contains a character that subjects do not allow. A slash
    /// is not allowed either: a value fills exactly one segment and cannot reach another subject.
    pub fn fill_template(parts: &[SubjectTemplatePart<'_>]) -> Result<Self, InvalidSubjectValue> {
        let mut text = String::with_capacity(64);
        for part in parts {
            match part {
                SubjectTemplatePart::Text(fixed) => text.push_str(fixed),
                SubjectTemplatePart::Field(name, value) => push_field(&mut text, name, *value)?,
            }
        }
        text.parse().map_err(|_| InvalidSubjectValue {
            field: "",
            value: text.into(),
        })
    }

    /// Appends these parts, which begin with a slash, to this subject.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Subject::fill_template`].
    pub fn below(&self, parts: &[SubjectTemplatePart<'_>]) -> Result<Self, InvalidSubjectValue> {
        let below = Self::fill_template(parts)?;
        let text = format!("{}{below}", self.0.trim_end_matches('/'));
        text.parse().map_err(|_| InvalidSubjectValue {
            field: "",
            value: text.into(),
        })
    }

    /// Returns the subject as a string.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses the subject of a recorded event. Earlier servers recorded a slash at the end, and the hash of the
    /// event covers it.
    ///
    /// # Errors
    /// The text is not a subject.
    #[doc(hidden)]
    pub fn parse_recorded(text: &str) -> Result<Self, InvalidSubject> {
        if is_subject(text) {
            return Ok(Self(text.into()));
        }
        let text = text.chars().take(80).collect::<String>().into();
        Err(InvalidSubject { text })
    }

    /// Returns the parent subject, or `None` for `/`.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (parent, own) = self.0.rsplit_once('/')?;
        match parent {
            "" if own.is_empty() => None,
            "" => Some(Self::root()),
            parent => Some(Self(parent.into())),
        }
    }

    /// Returns true if this subject is `base` or a descendant of it.
    #[must_use]
    pub fn is_within(&self, base: &Self) -> bool {
        let base = base.0.trim_end_matches('/');
        match self.0.strip_prefix(base) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

/// One part of a subject template.
///
/// ```
/// use es_event::{Subject, SubjectTemplatePart};
///
/// let id = 42;
/// let subject = Subject::fill_template(&[SubjectTemplatePart::Text("/books/"), SubjectTemplatePart::field("id", &id)])?;
/// assert_eq!(subject.as_str(), "/books/42");
/// let elsewhere = [SubjectTemplatePart::Text("/books/"), SubjectTemplatePart::field("id", &"../readers")];
/// assert!(Subject::fill_template(&elsewhere).is_err());
/// # Ok::<_, es_event::InvalidSubjectValue>(())
/// ```
#[derive(Clone, Copy)]
pub enum SubjectTemplatePart<'a> {
    /// Fixed text of the template.
    Text(&'static str),
    /// The JSON name of a field and its value.
    Field(&'static str, &'a dyn fmt::Display),
}

/// The error for a field value that cannot be part of a subject.
///
/// ```
/// use es_event::{Subject, SubjectTemplatePart};
///
/// let template = [SubjectTemplatePart::Text("/books/"), SubjectTemplatePart::field("isbn", &"978 3")];
/// let error = Subject::fill_template(&template).unwrap_err();
/// assert_eq!((error.field, &*error.value), ("isbn", "978 3"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{value:?} cannot name a subject: use ASCII letters, digits, '-' and '_', at least one and at most {MAX_LENGTH}"
)]
pub struct InvalidSubjectValue {
    /// The JSON name of the field.
    pub field: &'static str,
    /// The rejected value.
    pub value: Box<str>,
}

fn push_field(
    text: &mut String,
    field: &'static str,
    value: &dyn fmt::Display,
) -> Result<(), InvalidSubjectValue> {
    use fmt::Write as _;

    let start = text.len();
    let written = write!(text, "{value}");
    let value = text.get(start..).unwrap_or_default();
    if written.is_ok() && is_segment(value) && text.len() <= MAX_LENGTH {
        return Ok(());
    }
    Err(InvalidSubjectValue {
        field,
        value: value.into(),
    })
}

fn is_segment(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_segment_byte)
}

const fn is_segment_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// The classes of bytes in a subject.
const INVALID: u8 = 0;
const PART: u8 = 1;
const SLASH: u8 = 2;
#[allow(clippy::indexing_slicing)]
const KINDS: [u8; 256] = {
    let mut kinds = [INVALID; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        if is_segment_byte(byte) {
            kinds[byte as usize] = PART;
        }
        byte = byte.saturating_add(1);
    }
    kinds[b'/' as usize] = SLASH;
    kinds
};

/// Checks all bytes in one pass without branches, because every event that is read passes this
/// check.
fn is_subject(text: &str) -> bool {
    let Some(path) = text.strip_prefix('/') else {
        return false;
    };
    let (mut before, mut wrong) = (SLASH, false);
    for byte in path.bytes() {
        let kind = KINDS.get(usize::from(byte)).copied().unwrap_or(INVALID);
        wrong |= (kind == INVALID) | ((kind == SLASH) & (before == SLASH));
        before = kind;
    }
    !wrong && text.len() <= MAX_LENGTH
}

impl std::str::FromStr for Subject {
    type Err = InvalidSubject;

    fn from_str(text: &str) -> Result<Self, InvalidSubject> {
        let subject = Self::parse_recorded(text)?;
        Ok(match text.strip_suffix('/') {
            None | Some("") => subject,
            Some(without_slash) => Self(without_slash.into()),
        })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Subject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(text: &str) -> Subject {
        text.parse().unwrap()
    }

    #[test]
    fn the_protocols_examples_are_told_apart() {
        for valid in ["/", "/a", "/a/", "/books/42", "/a-b/c_d/E9"] {
            assert!(valid.parse::<Subject>().is_ok(), "{valid}");
        }
        for invalid in [
            "",
            "foobar",
            "in valid subject",
            "/user/günter",
            "//",
            "/a//",
            "/a//b",
            "/a/b//",
            "/a b",
            "/a\n",
        ] {
            assert!(invalid.parse::<Subject>().is_err(), "{invalid}");
        }
        assert!(
            format!("/{}", "a".repeat(MAX_LENGTH))
                .parse::<Subject>()
                .is_err()
        );
    }

    #[test]
    fn one_slash_at_the_end_is_left_out_unless_it_is_recorded() {
        for (text, same) in [("/", "/"), ("/a/", "/a"), ("/a/b/", "/a/b")] {
            assert_eq!(subject(text).as_str(), same);
            let json = format!("{text:?}");
            assert_eq!(
                serde_json::from_str::<Subject>(&json).unwrap().as_str(),
                same
            );
            assert_eq!(Subject::parse_recorded(text).unwrap().as_str(), text);
        }
        assert!(Subject::parse_recorded("/a//").is_err());
    }

    #[test]
    fn a_subject_is_within_itself_its_parents_and_nothing_beside_them() {
        assert!(subject("/books/1").is_within(&subject("/books")));
        assert!(subject("/books/1").is_within(&subject("/books/")));
        assert!(subject("/books").is_within(&subject("/books")));
        assert!(subject("/books").is_within(&Subject::root()));
        assert!(!subject("/bookshelf").is_within(&subject("/books")));
        assert!(!subject("/books").is_within(&subject("/books/1")));
    }

    #[test]
    fn a_field_fills_one_segment_and_no_more() {
        let filled = |value: &str| {
            Subject::fill_template(&[
                SubjectTemplatePart::Text("/books/"),
                SubjectTemplatePart::Field("id", &value),
            ])
        };
        assert_eq!(filled("42").unwrap(), subject("/books/42"));
        for escape in ["", "a/b", "..", "ü", "a b"] {
            assert_eq!(filled(escape).unwrap_err().field, "id", "{escape}");
        }
    }
}
