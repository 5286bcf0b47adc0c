//! The changes that follow from an event, with the key in the event's subject or in one of its fields.

use std::sync::Arc;

use super::{KeyError, KeyFields, Project, ProjectionError, ReadModel, RowChange, RowKey};
use es_event::{Event, EventView, Subject};

/// The changes that follow from an event of type `E`. `#[projection]` writes calls of these functions.
///
/// The functions of a projection run when the changes are applied. If one panics, or returns a row with another key, the
/// row with the event's key is held, and no other.
impl<R: ReadModel> RowChange<R> {
    /// Returns the change that puts a row. Its key is the segment of the event's subject where the subject of the read
    /// model has the field of the key. There is no change if the subjects differ elsewhere.
    ///
    /// ```
    /// use es_framework::{event::EventView, projection::RowChange};
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
    /// # use es_framework::{event::{EventCandidate, EventId, EventTime, EventType, Hash, RecordedEvent}, prelude::*};
    /// # let candidate = EventCandidate {
    /// #     source: "library-service".into(),
    /// #     subject: "/books/42".parse()?,
    /// #     event_type: EventType::declared("com.example.library.BookPurchasedEvent"),
    /// #     data: es_framework::event::encode(&Metadata::default(), &serde_json::json!({ "id": "8e03978e-40d5-43e8-bc93-6894a57f9324", "title": "Emma" }))?,
    /// #     trace: None,
    /// # };
    /// # let event = RecordedEvent::record(candidate, EventId::FIRST, EventTime::now(), Hash::ZERO);
    /// # let event = RecordedEvent { subject: "/books/8e03978e-40d5-43e8-bc93-6894a57f9324".parse()?, ..event };
    /// let event = EventView::from_recorded(&event);
    /// let put = RowChange::put_on_subject(&event, |event: BookPurchasedEvent| BookCopy {
    ///     id: event.id,
    ///     title: event.title,
    /// })?;
    /// assert_eq!(put.len(), 1);
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The segment cannot be a key, or the event does not fit its declaration.
    pub fn put_on_subject<E: Event>(
        event: &EventView<'_>,
        row: impl FnOnce(E) -> R + Send + 'static,
    ) -> Result<Vec<Self>, ProjectionError> {
        let change = move |_: Option<R>, happened: E| Some(row(happened));
        Self::compute_on_subject(event, change).map(ignore_stored_rows)
    }

    /// Returns the change that computes a row from the stored row, if there is one. Its key is found as in
    /// [`put_on_subject`](Self::put_on_subject).
    ///
    /// # Errors
    /// The segment cannot be a key, or the event does not fit its declaration.
    pub fn compute_on_subject<E: Event>(
        event: &EventView<'_>,
        change: impl FnOnce(Option<R>, E) -> Option<R> + Send + 'static,
    ) -> Result<Vec<Self>, ProjectionError> {
        let Some(key) = find_key_in_subject::<R>(event)? else {
            return Ok(Vec::new());
        };
        let happened = event.payload()?;
        Ok(vec![Self::compute(key, move |row| change(row, happened))])
    }

    /// Returns the change that puts a row. Its key is a field of the event.
    ///
    /// # Errors
    /// The field cannot be a key, or the event does not fit its declaration.
    pub fn put_on_field<E: Event>(
        event: &EventView<'_>,
        key: impl FnOnce(&E) -> Result<RowKey, KeyError>,
        row: impl FnOnce(E) -> R + Send + 'static,
    ) -> Result<Vec<Self>, ProjectionError> {
        let change = move |_: Option<R>, happened: E| Some(row(happened));
        Self::compute_on_field(event, key, change).map(ignore_stored_rows)
    }

    /// Returns the change that computes a row from the stored row, if there is one. Its key is a field of the event.
    ///
    /// # Errors
    /// The field cannot be a key, or the event does not fit its declaration.
    pub fn compute_on_field<E: Event>(
        event: &EventView<'_>,
        key: impl FnOnce(&E) -> Result<RowKey, KeyError>,
        change: impl FnOnce(Option<R>, E) -> Option<R> + Send + 'static,
    ) -> Result<Vec<Self>, ProjectionError> {
        let happened = event.payload()?;
        let key = key(&happened)?;
        Ok(vec![Self::compute(key, move |row| change(row, happened))])
    }

    /// Returns the changes that put a row for each element of a list in the event, in the order of the list. The key is
    /// the element, or a field of it.
    ///
    /// # Errors
    /// A key cannot be one, or the event does not fit its declaration.
    pub fn put_on_each<E: Event, T: 'static, L: ElementList<T> + 'static>(
        event: &EventView<'_>,
        list: fn(&E) -> &L,
        key: impl Fn(&T, &E) -> Result<RowKey, KeyError>,
        row: impl Fn(&T, &E) -> R + Send + Sync + 'static,
    ) -> Result<Vec<Self>, ProjectionError> {
        let change = move |_: Option<R>, element: &T, happened: &E| Some(row(element, happened));
        Self::compute_on_each(event, list, key, change).map(ignore_stored_rows)
    }

    /// Returns the changes that compute a row for each element of a list in the event from the stored row, if there is
    /// one. Keys are found as in [`put_on_each`](Self::put_on_each). A key that is in the list twice changes its row
    /// twice.
    ///
    /// # Errors
    /// A key cannot be one, or the event does not fit its declaration.
    pub fn compute_on_each<E: Event, T: 'static, L: ElementList<T> + 'static>(
        event: &EventView<'_>,
        list: fn(&E) -> &L,
        key: impl Fn(&T, &E) -> Result<RowKey, KeyError>,
        change: impl Fn(Option<R>, &T, &E) -> Option<R> + Send + Sync + 'static,
    ) -> Result<Vec<Self>, ProjectionError> {
        let shared = Arc::new((event.payload::<E>()?, change));
        let elements = list(&shared.0).elements().iter().enumerate();
        let change = |(index, element)| {
            let shared = Arc::clone(&shared);
            let key = key(element, &shared.0)?;
            Ok(Self::compute(key, move |row| {
                let (happened, change) = &*shared;
                let element = list(happened).elements().get(index)?;
                change(row, element, happened)
            }))
        };
        elements.map(change).collect()
    }
}

/// Returns the changes of computations that ignore the stored rows.
fn ignore_stored_rows<R: ReadModel>(changes: Vec<RowChange<R>>) -> Vec<RowChange<R>> {
    let changes = changes.into_iter();
    changes.map(RowChange::without_stored_row).collect()
}

/// A field of an event that holds a list of elements.
///
/// ```
/// use es_framework::projection::ElementList;
///
/// assert_eq!(vec![7, 9].elements(), [7, 9]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of `{T}`",
    label = "this field of the event is no list of `{T}`",
    note = "`#[each(items)]` names a field of the type `Vec<{T}>`, whose elements the function takes: `item: &{T}`"
)]
pub trait ElementList<T> {
    /// Returns the elements in their order.
    fn elements(&self) -> &[T];
}

impl<T> ElementList<T> for Vec<T> {
    fn elements(&self) -> &[T] {
        self
    }
}

/// Returns the key of the row that an event changes if its subject tells the key, whatever the payload is.
pub(super) fn key_in_subject<R: Project>(event: &EventView<'_>) -> Option<RowKey> {
    let is_in_subject = R::EVENTS_OF_SUBJECT.contains(&event.event_type());
    let key = is_in_subject.then(|| find_key_in_subject::<R>(event));
    key?.ok().flatten()
}

fn find_key_in_subject<R: ReadModel>(event: &EventView<'_>) -> Result<Option<RowKey>, KeyError> {
    let segments = segments_of_key(R::SUBJECT, R::KEY, &event.recorded().subject);
    segments
        .map(|segments| R::Key::parse(&segments))
        .transpose()
}

/// Returns the segments of a subject where the template has the columns of the key, unless they differ elsewhere.
fn segments_of_key<'a>(template: &str, key: &[&str], subject: &'a Subject) -> Option<Vec<&'a str>> {
    let mut named = Vec::new();
    let mut segments = subject.as_str().split('/');
    for expected in template.split('/') {
        let segment = segments.next()?;
        let name = expected.strip_prefix('{');
        match name.and_then(|name| name.strip_suffix('}')) {
            Some(name) => named.push((name, segment)),
            None if expected != segment => return None,
            None => {}
        }
    }
    if segments.next().is_some() {
        return None;
    }
    let segment = |column: &&str| {
        let mut named = named.iter();
        named
            .find(|(name, _)| name == column)
            .map(|(_, segment)| *segment)
    };
    key.iter().map(segment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_stands_where_the_template_has_its_fields() {
        let segments = |template: &str, key: &[&str], subject: &str| {
            let subject: Subject = subject.parse().unwrap();
            segments_of_key(template, key, &subject).map(|segments| segments.join(" "))
        };
        let key = |subject: &str| segments("/books/{id}", &["id"], subject);
        assert_eq!(key("/books/42").as_deref(), Some("42"));
        let day = segments(
            "/days/{day}/doctors/{id}",
            &["id", "day"],
            "/days/7/doctors/42",
        );
        assert_eq!(day.as_deref(), Some("42 7"));
        assert_eq!(segments("", &["id"], "/"), None);
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
