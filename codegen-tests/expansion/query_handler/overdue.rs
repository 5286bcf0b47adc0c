#[query_handler(reads = [Loan])]
async fn overdue(
    query: ListOverdue,
    context: &QueryContext<'_>,
    lending: &Lending,
    caller: &Caller,
) -> Result<Page<Loan>, QueryError> {
    let loans = context.rows::<Loan>().filter(lending.is_overdue(query.day));
    loans.page(context.paging()).await
}
