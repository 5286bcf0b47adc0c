//! The keys of rows.

use super::{Cell, CellError, ColumnValue, ReadModel, column};
use crate::event::{EventView, Subject};

/// The key of a row, as its column stores it.
///
/// ```
/// use es_framework::projection::RowKey;
///
/// assert_eq!(RowKey::of(&42)?, RowKey::Integer(42));
/// assert!(RowKey::of(&None::<String>).is_err());
/// # Ok::<_, es_framework::projection::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKey {
    /// A text, or a UUID.
    Text(String),
    /// A whole number.
    Integer(i64),
}

/// The reason why an event or a row has no key.
///
/// ```
/// use es_framework::projection::{KeyError, RowKey};
///
/// assert_eq!(RowKey::of(&None::<String>), Err(KeyError::Unfit));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// A segment of the subject does not fit the key.
    #[error("the subject's part {segment:?} is no key: it {reason}")]
    Segment {
        /// The segment.
        segment: String,
        /// The reason.
        reason: String,
    },
    /// The value cannot be a key.
    #[error("its key is empty or of a kind that tells no rows apart")]
    Unfit,
    /// The value cannot be a cell.
    #[error(transparent)]
    Cell(#[from] CellError),
}

impl RowKey {
    /// Converts a value to a key.
    ///
    /// # Errors
    /// The value is neither a text nor a whole number.
    pub fn of<K: ColumnValue>(key: &K) -> Result<Self, KeyError> {
        Self::from_cell(Cell::of("key", key)?).ok_or(KeyError::Unfit)
    }

    pub(crate) fn from_cell(cell: Cell) -> Option<Self> {
        match cell {
            Cell::Text(text) => Some(Self::Text(text)),
            Cell::Integer(number) => Some(Self::Integer(number)),
            Cell::Null | Cell::Real(_) | Cell::Boolean(_) => None,
        }
    }
}

impl From<RowKey> for Cell {
    fn from(key: RowKey) -> Self {
        match key {
            RowKey::Text(text) => Self::Text(text),
            RowKey::Integer(number) => Self::Integer(number),
        }
    }
}

/// Returns the segment of the event's subject that stands at the place of the key's field in the read
/// model's subject. Returns `None` if the subjects differ elsewhere.
///
/// ```
/// use es_framework::{event::EventView, projection::{RowKey, key_in_subject}};
/// # #[derive(Event)]
/// # struct BookPurchasedEvent { id: Uuid, title: String }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "book_copies", subject = "/books/{id}")]
/// # struct BookCopy {
/// #     #[key]
/// #     id: Uuid,
/// #     title: String,
/// # }
/// # #[projection]
/// # impl BookCopy {
/// #     fn purchased(event: &BookPurchasedEvent) -> Self {
/// #         Self { id: event.id, title: event.title.clone() }
/// #     }
/// # }
/// # use es_framework::prelude::*;
/// # use es_framework::{event::{EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent}, prelude::*};
/// # let candidate = EventCandidate {
/// #     source: "library-service".into(),
/// #     subject: "/books/42".parse()?,
/// #     event_type: EventType::declared("com.example.library.BookRemovedEvent"),
/// #     data: es_framework::event::encode(&Metadata::default(), &serde_json::json!({ "why": "torn" }))?,
/// #     trace: None,
/// # };
/// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
/// # let event = RecordedEvent { subject: "/books/8e03978e-40d5-43e8-bc93-6894a57f9324".parse()?, ..event };
/// let key = key_in_subject::<BookCopy>(&EventView::stored(&event))?;
/// assert_eq!(key, Some(RowKey::Text("8e03978e-40d5-43e8-bc93-6894a57f9324".into())));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The segment cannot be a key.
pub fn key_in_subject<R: ReadModel>(event: &EventView<'_>) -> Result<Option<RowKey>, KeyError> {
    let Some(segment) = segment_of_key(R::SUBJECT, &event.recorded().subject) else {
        return Ok(None);
    };
    let key: R::Key = column::parse(segment).map_err(|reason| KeyError::Segment {
        segment: segment.to_owned(),
        reason,
    })?;
    RowKey::of(&key).map(Some)
}

fn segment_of_key<'a>(template: &str, subject: &'a Subject) -> Option<&'a str> {
    let mut key = None;
    let mut segments = subject.as_str().split('/');
    for expected in template.split('/') {
        let segment = segments.next()?;
        if expected.starts_with('{') {
            key = Some(segment);
        } else if expected != segment {
            return None;
        }
    }
    key.filter(|_| segments.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_stands_where_the_template_has_its_field() {
        let key = |subject: &str| {
            let subject: Subject = subject.parse().unwrap();
            segment_of_key("/books/{id}", &subject).map(str::to_owned)
        };
        assert_eq!(key("/books/42").as_deref(), Some("42"));
        for other in [
            "/",
            "/books",
            "/readers/42",
            "/books/42/pages",
            "/books2/42",
        ] {
            assert_eq!(key(other), None, "{other}");
        }
    }
}
