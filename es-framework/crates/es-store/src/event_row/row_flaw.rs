//! The defects of rows.

use es_event::EventId;

/// The reason why a row is not as a store wrote it.
#[derive(Debug)]
pub struct RowFlaw {
    /// The id of the event.
    pub id: i64,
    /// The defect, as the rest of a sentence that begins with the event.
    pub flaw: String,
}

impl RowFlaw {
    /// Describes the defect of an event.
    pub fn new(id: i64, flaw: impl Into<String>) -> Self {
        let flaw = flaw.into();
        Self { id, flaw }
    }
}

/// Converts an id, a length or a limit to SQL's integer type. No id is larger than that.
pub fn sql_number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts the id of a row.
pub fn to_event_id(number: i64) -> Result<EventId, RowFlaw> {
    u64::try_from(number)
        .ok()
        .and_then(EventId::new)
        .ok_or_else(|| RowFlaw::new(number, "has a negative id"))
}
