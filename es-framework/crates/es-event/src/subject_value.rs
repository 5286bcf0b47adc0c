//! The field values that can be part of a subject.

use std::fmt;

use super::SubjectTemplatePart;

/// A value whose text fills one segment of a subject.
/// [`Subject::fill_template`](super::Subject::fill_template) checks the characters of the text at run
/// time.
///
/// ```
/// use std::fmt;
///
/// use es_event::{Subject, SubjectTemplatePart};
///
/// struct Shelf(u8);
///
/// impl fmt::Display for Shelf {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "shelf-{}", self.0)
///     }
/// }
///
/// let parts = [SubjectTemplatePart::Text("/"), SubjectTemplatePart::field("shelf", &Shelf(7))];
/// assert_eq!(Subject::fill_template(&parts)?.as_str(), "/shelf-7");
/// # Ok::<_, es_event::InvalidSubjectValue>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a subject",
    label = "this field has no text to fill a segment with",
    note = "make it a `Uuid`, a `String`, a whole number or another type that implements `std::fmt::Display`"
)]
pub trait SubjectValue: fmt::Display {}

// Without this attribute, the compiler's message would name `Display` instead of this trait.
#[diagnostic::do_not_recommend]
impl<T: fmt::Display> SubjectValue for T {}

impl<'a> SubjectTemplatePart<'a> {
    /// Creates the part of a subject that a field fills, from the field's JSON name and its value.
    #[must_use]
    pub fn field(name: &'static str, value: &'a impl SubjectValue) -> Self {
        Self::Field(name, value)
    }
}
