//! The key of a row, read from the subject of an event.

use super::{KeyError, ReadModel, RowKey, column};
use es_event::{EventView, Subject};

/// Returns the key of a row from the subject of an event: the segment where the subject of the read model has the
/// field of the key. Returns `None` if the subjects differ elsewhere.
///
/// ```
/// use es_framework::{event::EventView, projection::{RowKey, find_key_in_subject}};
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
/// let key = find_key_in_subject::<BookCopy>(&EventView::from_recorded(&event))?;
/// assert_eq!(key, Some(RowKey::Text("8e03978e-40d5-43e8-bc93-6894a57f9324".into())));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The segment cannot be a key.
pub fn find_key_in_subject<R: ReadModel>(
    event: &EventView<'_>,
) -> Result<Option<RowKey>, KeyError> {
    let Some(segment) = segment_of_key(R::SUBJECT, &event.recorded().subject) else {
        return Ok(None);
    };
    let key: R::Key = column::parse_value(segment).map_err(|reason| KeyError::Segment {
        segment: segment.to_owned(),
        reason,
    })?;
    RowKey::from_value(&key).map(Some)
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
