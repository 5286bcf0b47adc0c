//! Readers see what they hold.

use es_framework::prelude::*;

use super::open::OpenLoan;

/// Shows what a reader holds now.
#[derive(Query)]
#[query(path = "/readers/{reader}/loans")]
#[query(role = ["reader", "staff"], owner = reader, owner_except = "staff")]
pub struct LoansOfReader {
    pub reader: Uuid,
}

/// The highest number of loans in one answer. The loan limit is the real bound, and it is lower.
const MAX_LOANS: u32 = 100_000;

/// A copy that the reader holds.
#[derive(Debug, PartialEq, Value)]
pub struct HeldCopy {
    pub book: Uuid,
    pub due_at: Timestamp,
    pub overdue: bool,
}

impl QueryHandler for LoansOfReader {
    type Output = Vec<HeldCopy>;

    const READ_MODELS: &'static [&'static str] = &[OpenLoan::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<Vec<HeldCopy>, QueryError> {
        let loans = context
            .rows::<OpenLoan>()
            .filter(OpenLoan::reader().eq(&self.reader));
        let held = |loan: OpenLoan| HeldCopy {
            book: loan.book,
            due_at: loan.due_at,
            overdue: loan.due_at < context.now(),
        };
        Ok(loans.all(MAX_LOANS).await?.into_iter().map(held).collect())
    }
}

#[cfg(test)]
mod tests {
    use es_framework::testing::given;

    use super::*;
    use crate::loan::LoanOpenedEvent;

    #[test]
    fn all_loans_of_a_reader_are_listed() {
        let reader = Uuid::from_u128(1);
        let due_at = Timestamp::UNIX_EPOCH;
        let opened = |book| LoanOpenedEvent {
            reader,
            book: Uuid::from_u128(book),
            due_at,
        };
        let history = (0..1_003).fold(given(), |history, book| {
            history.event_on(&format!("/readers/{reader}"), opened(book))
        });
        let loans = history.query(LoansOfReader { reader }).unwrap();
        let books: Vec<_> = loans.into_iter().map(|loan| loan.book.as_u128()).collect();
        assert_eq!(books, (0..1_003).collect::<Vec<_>>());
    }
}
