//! The subject of a new event.

use serde::{Deserialize as _, Deserializer, de::Error as _};

use es_event::Subject;

/// Refuses a subject with a slash at its end.
pub(crate) fn deserialize_written_subject<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Subject, D::Error> {
    let subject = Subject::deserialize(deserializer)?;
    if subject.has_trailing_slash() {
        let text = format!(
            "invalid subject {:?}: a subject does not end with '/'",
            subject.as_str()
        );
        return Err(D::Error::custom(text));
    }
    Ok(subject)
}
