//! The events of reservations. Each is recorded on the title and on the reader, and on the copy that is set aside. So each
//! decision on one of the three sees it, and none of two decisions on different ones is made on an old state.

use es_framework::prelude::*;

/// A reader waits for a title.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/titles/{title}")]
pub struct TitleReservedEvent {
    pub title: String,
    pub reader: Uuid,
}

/// The reader who waited longest for a title has a copy set aside.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/titles/{title}")]
pub struct CopyHeldEvent {
    pub title: String,
    pub reader: Uuid,
    pub copy: Uuid,
    pub until: Timestamp,
}

/// The copy that was set aside for a reader is gone, and the reader waits again in the old place.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/titles/{title}")]
pub struct HoldWithdrawnEvent {
    pub title: String,
    pub reader: Uuid,
    pub copy: Uuid,
}

/// The reason for which a reservation ended.
#[derive(Debug, PartialEq, Value)]
pub enum EndReason {
    Borrowed,
    Cancelled,
    Lapsed,
}

/// A reader no longer waits for a title.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/titles/{title}")]
pub struct ReservationEndedEvent {
    pub title: String,
    pub reader: Uuid,
    pub reason: EndReason,
}

/// A reader has an open reservation, and no copy is set aside for it.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/readers/{reader}")]
pub struct ReservationOpenedEvent {
    pub reader: Uuid,
    pub title: String,
}

/// A copy waits for a reader who has reserved its title.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/readers/{reader}")]
pub struct ReservationReadyEvent {
    pub reader: Uuid,
    pub title: String,
    pub copy: Uuid,
    pub until: Timestamp,
}

/// A reader no longer has a reservation.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/readers/{reader}")]
pub struct ReservationClosedEvent {
    pub reader: Uuid,
    pub title: String,
}

/// A copy is set aside for a reader, who may borrow it until this time.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/books/{id}")]
pub struct CopySetAsideEvent {
    pub id: Uuid,
    pub reader: Uuid,
    pub until: Timestamp,
}

/// A copy is no longer set aside for a reader.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/books/{id}")]
pub struct CopyPutBackEvent {
    pub id: Uuid,
    pub reader: Uuid,
}
