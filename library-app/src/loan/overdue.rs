//! Staff see which copies should be back.

use es_framework::prelude::*;

use super::open::OpenLoan;

/// Lists the overdue loans, the longest overdue first.
#[derive(Query)]
#[query(path = "/loans/overdue", paged, role = "staff")]
pub struct OverdueLoans {}

impl Answer for OverdueLoans {
    type Answer = Page<OpenLoan>;

    async fn answer(self, reading: &Reading<'_>) -> Result<Page<OpenLoan>, QueryError> {
        let overdue = reading.rows::<OpenLoan>().below("due_at", &reading.now());
        let longest_first = overdue.order_by("due_at", Direction::Ascending);
        longest_first.page(reading.paging()).await
    }
}
