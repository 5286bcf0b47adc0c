//! Staff see who waits for a title.

use es_framework::prelude::*;

use super::{
    CopyHeldEvent, HoldWithdrawnEvent, ReservationEndedEvent, TitleReservedEvent, title_of,
};

/// The open reservations of a title.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "reservation_queues", subject = "/titles/{title}")]
pub struct ReservationQueue {
    #[key]
    pub title: String,
    /// In the order in which the readers reserved the title.
    pub reservations: Vec<QueuedReservation>,
}

/// A reader who waits for a title, or for whom a copy of it is set aside.
#[derive(Debug, PartialEq, Value)]
pub struct QueuedReservation {
    pub reader: Uuid,
    /// The copy that is set aside.
    pub copy: Option<Uuid>,
    /// The time until which the copy is set aside.
    pub until: Option<Timestamp>,
}

impl ReservationQueue {
    const fn empty(title: String) -> Self {
        let reservations = Vec::new();
        Self {
            title,
            reservations,
        }
    }

    fn set_aside(&mut self, reader: Uuid, copy: Option<Uuid>, until: Option<Timestamp>) {
        let mut reservations = self.reservations.iter_mut();
        if let Some(reservation) = reservations.find(|one| one.reader == reader) {
            reservation.copy = copy;
            reservation.until = until;
        }
    }
}

#[projection]
impl ReservationQueue {
    fn reserved(row: Option<Self>, event: &TitleReservedEvent) -> Option<Self> {
        let mut row = row.unwrap_or_else(|| Self::empty(event.title.clone()));
        row.reservations.push(QueuedReservation {
            reader: event.reader,
            copy: None,
            until: None,
        });
        Some(row)
    }

    fn held(&mut self, event: &CopyHeldEvent) {
        self.set_aside(event.reader, Some(event.copy), Some(event.until));
    }

    fn withdrawn(&mut self, event: &HoldWithdrawnEvent) {
        self.set_aside(event.reader, None, None);
    }

    fn ended(&mut self, event: &ReservationEndedEvent) {
        self.reservations.retain(|one| one.reader != event.reader);
    }
}

/// Shows who waits for a title, the one who waits longest first, and for whom a copy is set aside.
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
