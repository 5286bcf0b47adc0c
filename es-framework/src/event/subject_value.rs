//! The fields of a command that can stand in its subject.

use std::fmt;

use super::SubjectPart;

/// A value whose text fills a segment of a subject. Whether a text can stand there is known only
/// when it does: see [`Subject::from_parts`](super::Subject::from_parts).
///
/// ```
/// use std::fmt;
///
/// use es_framework::event::{Subject, SubjectPart};
///
/// struct Shelf(u8);
///
/// impl fmt::Display for Shelf {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "shelf-{}", self.0)
///     }
/// }
///
/// let parts = [SubjectPart::Text("/"), SubjectPart::field("shelf", &Shelf(7))];
/// assert_eq!(Subject::from_parts(&parts)?.as_str(), "/shelf-7");
/// # Ok::<_, es_framework::event::InvalidPart>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a subject",
    label = "this field has no text to fill a segment with",
    note = "make it a `Uuid`, a `String`, a whole number or another type that implements `std::fmt::Display`"
)]
pub trait SubjectValue: fmt::Display {}

// Otherwise the compiler would speak of formatting.
#[diagnostic::do_not_recommend]
impl<T: fmt::Display> SubjectValue for T {}

impl<'a> SubjectPart<'a> {
    /// A field: its name, as on the wire, and its value.
    #[must_use]
    pub fn field(name: &'static str, value: &'a impl SubjectValue) -> Self {
        Self::Field(name, value)
    }
}
