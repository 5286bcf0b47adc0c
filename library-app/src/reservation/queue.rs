//! Staff see who waits for a title.

use es_framework::prelude::*;

use super::{
    CopyHeldEvent, HoldWithdrawnEvent, ReservationEndedEvent, TitleReservedEvent, title_of,
};

/// The readers who wait for a title, the first one first, and the copies that are set aside.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "reservation_queues", subject = "/titles/{title}")]
pub struct ReservationQueue {
    #[key]
    pub title: String,
    pub waiting: Vec<Uuid>,
    pub set_aside: Vec<SetAsideCopy>,
}

/// A copy that is set aside for a reader.
#[derive(Debug, PartialEq, Value)]
pub struct SetAsideCopy {
    pub copy: Uuid,
    pub reader: Uuid,
    pub until: Timestamp,
}

impl ReservationQueue {
    const fn empty(title: String) -> Self {
        Self {
            title,
            waiting: Vec::new(),
            set_aside: Vec::new(),
        }
    }

    fn remove(&mut self, reader: Uuid) {
        self.waiting.retain(|waiting| *waiting != reader);
        self.set_aside.retain(|copy| copy.reader != reader);
    }
}

#[projection]
impl ReservationQueue {
    fn reserved(row: Option<Self>, event: &TitleReservedEvent) -> Option<Self> {
        let mut row = row.unwrap_or_else(|| Self::empty(event.title.clone()));
        row.waiting.push(event.reader);
        Some(row)
    }

    fn held(&mut self, event: &CopyHeldEvent) {
        self.remove(event.reader);
        self.set_aside.push(SetAsideCopy {
            copy: event.copy,
            reader: event.reader,
            until: event.until,
        });
    }

    fn withdrawn(&mut self, event: &HoldWithdrawnEvent) {
        self.remove(event.reader);
        self.waiting.insert(0, event.reader);
    }

    fn ended(&mut self, event: &ReservationEndedEvent) {
        self.remove(event.reader);
    }
}

/// Shows who waits for a title.
#[derive(Query)]
#[query(path = "/titles/{isbn}/queue", role = "staff")]
pub struct ShowQueue {
    /// The ISBN of the title, in any spelling.
    pub isbn: String,
}

impl QueryHandler for ShowQueue {
    type Output = ReservationQueue;

    const READ_MODELS: &'static [&'static str] = &[ReservationQueue::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<ReservationQueue, QueryError> {
        let title = title_of(&self.isbn);
        let row = context.find_row::<ReservationQueue>(&title).await?;
        Ok(row.unwrap_or_else(|| ReservationQueue::empty(title)))
    }
}
