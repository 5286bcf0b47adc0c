//! Staff see which copies should be back.

use es_framework::prelude::*;

use super::open::OpenLoan;

/// Lists the overdue loans, the longest overdue first.
#[derive(Query)]
#[query(path = "/loans/overdue", paged, role = "staff")]
pub struct OverdueLoans {}

impl QueryHandler for OverdueLoans {
    type Output = Page<OpenLoan>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Page<OpenLoan>, QueryError> {
        let overdue = context.rows::<OpenLoan>().below("due_at", &context.now());
        let longest_first = overdue.order_by("due_at", Direction::Ascending);
        longest_first.page(context.paging()).await
    }
}
