//! The events that operators have skipped. Each choice is an event in the event store, so that every process
//! and every restart has it, wherever the rows are.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use serde::{Deserialize, Serialize};

use es_event::{
    EventCandidate, EventId, EventSelection, EventType, InvalidSubjectValue, Metadata, Subject,
    SubjectTemplatePart,
};
use es_store::{AppendError, EventLog, ReadOptions, StoreError, newest_id};

const SKIPPED: EventType = EventType::declared("io.es-framework.EventsSkippedEvent");
const RESUMED: EventType = EventType::declared("io.es-framework.EventsResumedEvent");

/// The payload of both events.
#[derive(Debug, Serialize, Deserialize)]
struct SelectionPayload {
    selection: EventSelection,
}

/// The log of the events that one read model or reaction skips.
#[doc(hidden)]
#[derive(Debug)]
pub struct SkipLog {
    store: Arc<dyn EventLog>,
    source: Arc<str>,
    subject: Subject,
}

impl SkipLog {
    /// Creates the log of a component: `kind` is `read-models` or `reactions`.
    ///
    /// # Errors
    /// The name is not a valid subject segment.
    pub fn new(
        store: Arc<dyn EventLog>,
        source: Arc<str>,
        kind: &'static str,
        name: &'static str,
    ) -> Result<Self, InvalidSubjectValue> {
        let subject = Subject::fill_template(&[
            SubjectTemplatePart::Text("/es-framework/skips/"),
            SubjectTemplatePart::Text(kind),
            SubjectTemplatePart::Text("/"),
            SubjectTemplatePart::Field("name", &name),
        ])?;
        Ok(Self {
            store,
            source,
            subject,
        })
    }

    /// Loads the selections that are skipped. An event that does not fit is no choice of an operator
    /// and is ignored.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn load(&self) -> Result<Vec<EventSelection>, StoreError> {
        let mut skipped: Vec<EventSelection> = Vec::new();
        let mut events = self
            .store
            .read(self.subject.clone(), ReadOptions::default());
        while let Some(event) = events.try_next().await? {
            let selection = match event.payload::<SelectionPayload>() {
                Ok(payload) => payload.selection,
                Err(_) => continue,
            };
            if event.event_type == SKIPPED {
                skipped.push(selection);
            } else if event.event_type == RESUMED {
                skipped.retain(|one| !selection.covers_all_of(one));
            }
        }
        Ok(skipped)
    }

    /// Returns the last event that a selection names, if the store is known not to have it: an event of the future is not
    /// one that a component cannot handle. Where the newest event is damaged, it may be the one to skip.
    pub async fn find_unrecorded(&self, selection: &EventSelection) -> Option<EventId> {
        let (_, last) = selection.ids()?;
        let newest = newest_id(&*self.store).await;
        newest
            .is_ok_and(|newest| newest < Some(last))
            .then_some(last)
    }

    /// Skips events from now on.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn skip(&self, selection: EventSelection) -> Result<(), StoreError> {
        self.append(SKIPPED, selection).await
    }

    /// Ends the skips of the selected events. Returns false if none of them was skipped.
    ///
    /// # Errors
    /// The store does not answer.
    pub async fn end_skips(&self, selection: &EventSelection) -> Result<bool, StoreError> {
        let skipped = self.load().await?;
        let was_skipped = skipped.iter().any(|one| selection.covers_all_of(one));
        if was_skipped {
            self.append(RESUMED, selection.clone()).await?;
        }
        Ok(was_skipped)
    }

    /// Appends a choice. A choice that is stored twice means the same as one.
    async fn append(
        &self,
        event_type: EventType,
        selection: EventSelection,
    ) -> Result<(), StoreError> {
        let payload = SelectionPayload { selection };
        let data = es_event::encode(&Metadata::default(), &payload)
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        let candidate = EventCandidate {
            source: Arc::clone(&self.source),
            subject: self.subject.clone(),
            event_type,
            data,
            trace: None,
        };
        match self.store.append(vec![candidate], Vec::new()).await {
            Ok(_) => Ok(()),
            Err(AppendError::Store(error)) => Err(error),
            Err(AppendError::Unknown { address, reason }) => {
                Err(StoreError::Unavailable { address, reason })
            }
            Err(error) => Err(StoreError::Refused(error.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use es_store::memory::MemoryStore;

    use super::*;

    fn event(id: u64) -> EventSelection {
        let event = EventId::new(id).unwrap();
        EventSelection::Event { event }
    }

    #[tokio::test]
    async fn a_choice_holds_until_an_operator_ends_it() {
        let store: Arc<dyn EventLog> = Arc::new(MemoryStore::new());
        let log =
            |name| SkipLog::new(Arc::clone(&store), "tests".into(), "read-models", name).unwrap();
        let torn = EventSelection::Fingerprint {
            fingerprint: "0123456789abcdef".into(),
        };
        for selection in [event(3), event(9), torn.clone()] {
            log("books").skip(selection).await.unwrap();
        }
        // Something else on the subject changes nothing.
        let foreign = EventCandidate {
            source: "tests".into(),
            subject: "/es-framework/skips/read-models/books".parse().unwrap(),
            event_type: SKIPPED,
            data: es_event::encode(&Metadata::default(), &"garbage").unwrap(),
            trace: None,
        };
        store.append(vec![foreign], vec![]).await.unwrap();
        assert_eq!(
            log("books").load().await.unwrap(),
            [event(3), event(9), torn.clone()]
        );
        assert!(log("loans").load().await.unwrap().is_empty());
        let until_five = EventSelection::Range {
            from: EventId::FIRST,
            to: EventId::new(5).unwrap(),
        };
        for was_skipped in [true, false] {
            let ended = log("books").end_skips(&until_five).await;
            assert_eq!(ended.unwrap(), was_skipped);
        }
        assert_eq!(log("books").load().await.unwrap(), [event(9), torn]);
    }
}
