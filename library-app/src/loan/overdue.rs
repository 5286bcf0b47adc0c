//! Staff see which copies should be back.

use es_framework::prelude::*;

use super::open::OpenLoan;

/// Lists the overdue loans, the longest overdue first.
#[derive(Query)]
#[query(path = "/loans/overdue", paged, role = "staff")]
pub struct OverdueLoans {}

impl QueryHandler for OverdueLoans {
    type Output = Page<OpenLoan>;

    const READ_MODELS: &'static [&'static str] = &[OpenLoan::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<Page<OpenLoan>, QueryError> {
        context
            .rows::<OpenLoan>()
            .filter(OpenLoan::due_at().below(&context.now()))
            .sort(OpenLoan::due_at())
            .page(context.paging())
            .await
    }
}
