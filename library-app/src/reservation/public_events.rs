//! The public events about reservations.

use es_framework::prelude::*;

use super::CopyHeldEvent;

/// A copy of a title waits for the reader who has reserved the title.
#[derive(Debug, PartialEq, PublicEvent)]
pub struct ReservedTitleAvailable {
    /// The ISBN without hyphens and spaces.
    pub isbn: String,
    pub copy: Uuid,
    pub until: Timestamp,
}

#[publish]
fn reserved_title_available(event: &CopyHeldEvent) -> ReservedTitleAvailable {
    ReservedTitleAvailable {
        isbn: event.title.clone(),
        copy: event.copy,
        until: event.until,
    }
}

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;

    #[test]
    fn a_title_that_is_available_for_a_reservation_is_published_without_its_reader() {
        let until = "2026-07-08T12:00:00Z".parse().unwrap();
        let copy = Uuid::from_u128(1);
        given()
            .event(CopyHeldEvent {
                title: "9780261103573".into(),
                reader: Uuid::from_u128(100),
                copy,
                until,
            })
            .then_published(ReservedTitleAvailable {
                isbn: "9780261103573".into(),
                copy,
                until,
            });
    }
}
