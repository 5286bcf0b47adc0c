//! Readers see what they hold.

use es_framework::prelude::*;

use super::open::OpenLoan;

/// Shows what a reader holds now.
#[derive(Query)]
#[query(path = "/readers/{reader}/loans")]
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
