//! The statement that computes aggregates of the selected rows.

use futures_util::future::BoxFuture;

use super::{
    QueryError,
    aggregate::{AggregateExpression, AggregateValues},
    row_selection::{RowSelection, where_clause},
    sql_fragment::SqlFragment,
    table_view::TableView,
};
use crate::projection::{DatabaseError, QueryCost, table_statements::quote_name};

impl RowSelection<'_> {
    /// Loads the number of rows, and the values of aggregates of them.
    pub(super) fn load_aggregates<'q>(
        &'q self,
        aggregates: Vec<&'q AggregateExpression>,
    ) -> BoxFuture<'q, Result<AggregateValues, QueryError>> {
        Box::pin(async move {
            let database = self.database;
            let view = self.view()?;
            let filter = self.filter_sql(view)?;
            // The number of rows makes one line of the statement, even without any aggregate.
            let list = aggregate_list(view, "count(*)", &aggregates)?;
            let array = database.dialect().json_array_expression(&list.text);
            let table = quote_name(view.table.model.name);
            let statement = format!("SELECT {array} FROM {table}{}", where_clause(&filter.text));
            let parameters = list.parameters.into_iter().chain(filter.parameters);
            let numbered = database.replace_question_marks(&statement, 0);
            let texts = database
                .fetch_texts_up_to(
                    QueryCost::Aggregate,
                    numbered,
                    parameters.collect(),
                    usize::MAX,
                )
                .await
                .map_err(|error| explain_overflow(error, &aggregates))?;
            let text = texts.rows.into_iter().next().unwrap_or_default();
            AggregateValues::parse(&text)
        })
    }
}

/// Returns the error of a statement with aggregates. PostgreSQL ends one whose sum of floats does not fit.
pub(super) fn explain_overflow(
    error: DatabaseError,
    aggregates: &[&AggregateExpression],
) -> QueryError {
    match aggregates.iter().find(|one| one.may_overflow()) {
        Some(AggregateExpression { column, .. }) if error.is_overflow() => {
            QueryError::SumTooLarge { column }
        }
        _ => error.into(),
    }
}

/// Returns the SQL of the aggregates after other expressions.
pub(super) fn aggregate_list(
    view: TableView<'_>,
    others: &str,
    aggregates: &[&AggregateExpression],
) -> Result<SqlFragment, QueryError> {
    let aggregates = aggregates.iter().map(|one| one.to_sql(view));
    let others = Ok(SqlFragment::new(others, Vec::new()));
    let list: Result<Vec<_>, QueryError> = [others].into_iter().chain(aggregates).collect();
    Ok(SqlFragment::join(list?, ", "))
}
