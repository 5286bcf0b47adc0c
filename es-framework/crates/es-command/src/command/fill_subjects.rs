//! The states of several subjects, which a function of the command names.

use super::{CommandError, Violation};
use es_event::{InvalidSubjectValue, Subject};

/// The largest number of subjects: a year of days. The command locks all of them and has a precondition for each.
const MAX_SUBJECTS: usize = 400;

/// Fills a template with each of these values.
///
/// # Errors
/// A value cannot stand in a subject, or there are too many.
#[doc(hidden)]
pub fn fill_subjects<T: IntoIterator>(
    values: T,
    fill: impl FnMut(T::Item) -> Result<Subject, InvalidSubjectValue>,
) -> Result<Vec<Subject>, CommandError> {
    // A client may name a range without an end.
    let values = values.into_iter().take(MAX_SUBJECTS.saturating_add(1));
    let subjects: Vec<_> = values.map(fill).collect::<Result<_, _>>()?;
    if subjects.len() <= MAX_SUBJECTS {
        return Ok(subjects);
    }
    let message =
        format!("the command is about more than {MAX_SUBJECTS} subjects: send several commands");
    let pointer = String::new();
    Err(CommandError::Invalid(vec![Violation { pointer, message }]))
}
