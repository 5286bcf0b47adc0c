//! Creates the search index of a table that was created without it.

use std::time::Duration;

use super::super::{
    super::{Table, search_index::create_gin_index_statement, table_statements},
    DatabaseError,
};
use es_sql::{Cell, SqlDatabase, Statement};

const HAS_SEARCH_INDEX: &str = "SELECT EXISTS (SELECT 1 FROM pg_index \
     WHERE indrelid = to_regclass($1) AND pg_get_indexdef(indexrelid) LIKE '%gin_trgm_ops%')";
/// An index waits for transactions that write its table, such as that of another instance.
const LIMIT_LOCK_WAIT: &str = "SET LOCAL lock_timeout = '5s'";
const LIMIT_INDEX_TIME: &str = "SET LOCAL statement_timeout = '10min'";
/// Ends the wait if the server does not keep its limit, as after a failover.
const INDEX_TIMEOUT: Duration = Duration::from_secs(630);

/// Creates the search index of a table that was created while the server lacked the extension. If the
/// server refuses that, text searches still work but look at each row.
pub(super) async fn create_missing_search_index(
    database: &SqlDatabase,
    table: &Table,
) -> Result<(), DatabaseError> {
    let Some(create) = create_gin_index_statement(table) else {
        return Ok(());
    };
    let quoted = table_statements::quote_name(&table.name());
    let found = Statement::new(HAS_SEARCH_INDEX, [quoted.into()]);
    if database.read(found).await? == [[Cell::Boolean(true)]] {
        return Ok(());
    }
    let name = table.model.name;
    tracing::info!(
        read_model = name,
        "creates the missing search index, which may take minutes; the read model waits for it"
    );
    let statements = [LIMIT_LOCK_WAIT, LIMIT_INDEX_TIME, &create].map(Statement::plain);
    let created = database.write_within(INDEX_TIMEOUT, statements.into());
    match created.await {
        Err(DatabaseError::Postgres(error)) if error.as_database_error().is_some() => {
            tracing::warn!(
                read_model = name,
                %error,
                "the search index was not created, so text searches look at each row; the next start tries again"
            );
            Ok(())
        }
        created => created,
    }
}
