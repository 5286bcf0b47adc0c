#[query_handler]
fn overdue(query: &ListOverdue, lending: Lending) -> Page<Loan> {
    todo!()
}
