//! Readers see their reservations.

use es_framework::prelude::*;

use super::{ReservationClosedEvent, ReservationOpenedEvent, ReservationReadyEvent};

/// The reservations of a reader.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "reader_reservations", subject = "/readers/{reader}")]
pub struct ReaderReservations {
    #[key]
    pub reader: Uuid,
    pub reservations: Vec<Reservation>,
}

/// A title that a reader has reserved.
#[derive(Debug, PartialEq, Value)]
pub struct Reservation {
    pub title: String,
    /// The copy that is set aside.
    pub copy: Option<Uuid>,
    /// The time until which the copy is set aside.
    pub until: Option<Timestamp>,
}

#[projection]
impl ReaderReservations {
    fn opened(row: Option<Self>, event: &ReservationOpenedEvent) -> Option<Self> {
        let mut row = row.unwrap_or(Self {
            reader: event.reader,
            reservations: Vec::new(),
        });
        row.reservations.retain(|one| one.title != event.title);
        row.reservations.push(Reservation {
            title: event.title.clone(),
            copy: None,
            until: None,
        });
        Some(row)
    }

    fn ready(&mut self, event: &ReservationReadyEvent) {
        let mut reservations = self.reservations.iter_mut();
        if let Some(ready) = reservations.find(|one| one.title == event.title) {
            ready.copy = Some(event.copy);
            ready.until = Some(event.until);
        }
    }

    fn closed(&mut self, event: &ReservationClosedEvent) {
        self.reservations.retain(|one| one.title != event.title);
    }
}

/// Shows the titles that a reader has reserved, with the copies that are set aside.
#[derive(Query)]
#[query(path = "/readers/{reader}/reservations")]
#[query(role = ["reader", "staff"], owner = reader, owner_except = "staff")]
pub struct ReservationsOfReader {
    pub reader: Uuid,
}

impl QueryHandler for ReservationsOfReader {
    type Output = Vec<Reservation>;

    const READ_MODELS: &'static [&'static str] = &[ReaderReservations::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<Vec<Reservation>, QueryError> {
        let row = context.find_row::<ReaderReservations>(&self.reader);
        let row = row.await?;
        Ok(row.map_or_else(Vec::new, |row| row.reservations))
    }
}
