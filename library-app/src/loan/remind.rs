//! Reports each overdue loan once.

use es_framework::prelude::*;

use super::LoanOverdueEvent;
use crate::book::{Book, BookBorrowedEvent, BookReturnedEvent};

/// Reports that a borrowed copy is not back in time.
#[derive(Debug, Command)]
#[command(subject = "/books/{id}", internal)]
pub struct ReportOverdueCommand {
    pub id: Uuid,
    pub due_at: Timestamp,
}

/// Reports a loan that is overdue, unless the copy comes back first.
pub struct LoanReminder;

#[reaction]
impl LoanReminder {
    #[deadline(at = due_at, unless(BookReturnedEvent))]
    fn report(event: &BookBorrowedEvent) -> ReportOverdueCommand {
        let BookBorrowedEvent { id, due_at, .. } = *event;
        ReportOverdueCommand { id, due_at }
    }
}

/// Records the overdue loan once. A copy that came back in the meantime is not reported, even if it was
/// lent again.
#[handler]
fn report_overdue(book: &Book, command: ReportOverdueCommand) -> Option<LoanOverdueEvent> {
    match *book {
        Book::Lent {
            reader,
            due_at,
            is_reported: false,
        } if due_at == command.due_at => Some(LoanOverdueEvent {
            id: command.id,
            reader,
            due_at,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use es_framework::testing::{Scenario, given};

    use super::*;

    const COPY: &str = "/books/00000000-0000-0000-0000-000000000001";
    const DUE: &str = "2026-07-29T12:00:00Z";

    fn due_at() -> Timestamp {
        DUE.parse().unwrap()
    }

    fn purchased() -> Scenario {
        let event = crate::book::BookPurchasedEvent {
            id: Uuid::from_u128(1),
            isbn: "978-0261103573".into(),
            title: "The Fellowship of the Ring".into(),
            author: "J. R. R. Tolkien".into(),
            num_pages: 423,
        };
        given().event_on(COPY, event)
    }

    fn borrowed() -> Scenario {
        let event = BookBorrowedEvent {
            id: Uuid::from_u128(1),
            reader: Uuid::from_u128(100),
            due_at: due_at(),
        };
        purchased().event_on(COPY, event)
    }

    fn overdue() -> LoanOverdueEvent {
        LoanOverdueEvent {
            id: Uuid::from_u128(1),
            reader: Uuid::from_u128(100),
            due_at: due_at(),
        }
    }

    fn report() -> ReportOverdueCommand {
        ReportOverdueCommand {
            id: Uuid::from_u128(1),
            due_at: due_at(),
        }
    }

    #[test]
    fn a_copy_that_is_not_back_in_time_is_reported() {
        borrowed()
            .at(DUE)
            .reacts::<LoanReminder>()
            .then_sent(report())
            .then_on(COPY, overdue());
    }

    #[test]
    fn a_copy_is_not_reported_before_its_time() {
        borrowed()
            .at("2026-07-29T11:59:59Z")
            .reacts::<LoanReminder>()
            .then_nothing();
    }

    #[test]
    fn a_copy_that_came_back_is_not_reported() {
        let returned = BookReturnedEvent {
            id: Uuid::from_u128(1),
            reader: Uuid::from_u128(100),
            late_fee_cents: 50,
        };
        borrowed()
            .event_on(COPY, returned)
            .at("2026-08-01T00:00:00Z")
            .reacts::<LoanReminder>()
            .then_nothing();
    }

    #[test]
    fn a_loan_is_reported_once() {
        borrowed().event_on(COPY, overdue()).when(report()).then(());
    }

    #[test]
    fn another_loan_of_the_same_copy_is_not_reported_for_the_one_before() {
        let due_at = "2026-07-01T00:00:00Z".parse().unwrap();
        let earlier = ReportOverdueCommand { due_at, ..report() };
        borrowed().when(earlier).then(());
    }
}
