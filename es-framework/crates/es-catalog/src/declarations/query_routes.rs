//! The routes of queries, and of read models whose rows are events.

use es_read::{
    projection::{ColumnVisibility, ReadModels, RowIdentity, Table},
    query::{QueryDescriptor, QueryRoute, QueryRouteTarget},
};

/// Returns the routes of queries, and of the read models whose rows are events.
pub(crate) fn query_routes(queries: &[QueryDescriptor], models: &ReadModels) -> Vec<QueryRoute> {
    let queries = queries.iter().map(|query| QueryRoute {
        path: query.path.to_owned(),
        declaration: query.declaration,
        target: QueryRouteTarget::Query(*query),
        visibility: visibility(query, models),
    });
    let are_events = |table: &&Table| table.model.identity == RowIdentity::Event;
    let rows = models.iter().filter(are_events).flat_map(|table| {
        let path = format!("/{}", table.model.name);
        [
            (
                format!("{path}/{{key}}"),
                QueryRouteTarget::FindEvent(table.clone()),
            ),
            (path, QueryRouteTarget::BrowseEvents(table.clone())),
        ]
        .map(|(path, target)| QueryRoute {
            path,
            declaration: table.model.declaration,
            target,
            visibility: Vec::new(),
        })
        .into_iter()
        .rev()
    });
    queries.chain(rows).collect()
}

/// Returns the columns of the read models of a query that only some callers see. A query that names no read model may read
/// each of them.
fn visibility(query: &QueryDescriptor, models: &ReadModels) -> Vec<ColumnVisibility> {
    let tables = models.iter().map(|table| table.model);
    let named = [query.tables, query.read_models].concat();
    let is_read = |name| named.is_empty() || named.contains(&name);
    let tables = tables.filter(|model| is_read(model.name));
    tables
        .flat_map(|model| model.visibility.iter().copied())
        .collect()
}
