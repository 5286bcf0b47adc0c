//! The subject of a new event.

use serde::{Deserialize as _, Deserializer, de::Error as _};

use es_event::Subject;

/// The greatest number of segments. A store lists each ancestor of a subject, so that an event on a subject
/// with a thousand segments would cost as much as a thousand events.
const MAX_SEGMENTS: usize = 100;

/// Refuses a subject that no event can be written to.
pub(crate) fn deserialize_written_subject<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Subject, D::Error> {
    let subject = Subject::deserialize(deserializer)?;
    check_written_subject(&subject).map_err(|error| {
        D::Error::custom(format!("malformed subject {:?}: {error}", subject.as_str()))
    })?;
    Ok(subject)
}

/// Fails if the subject has too many segments.
pub(crate) fn check_written_subject(subject: &Subject) -> Result<(), String> {
    let num_segments = subject.as_str().matches('/').count();
    if num_segments > MAX_SEGMENTS {
        return Err(format!(
            "a subject has at most {MAX_SEGMENTS} segments, not {num_segments}"
        ));
    }
    Ok(())
}
