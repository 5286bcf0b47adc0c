//! Hand-written statements.

/// A hand-written statement in the dialect of each kind of database.
///
/// ```
/// use es_framework::{prelude::*, projection::{Cell, Sql}};
///
/// const BY_AUTHOR: Sql = Sql {
///     sqlite: "SELECT json_object('title', title) FROM book_copies WHERE author = ?1",
///     postgres: "SELECT json_build_object('title', title)::text FROM book_copies WHERE author = $1",
/// };
///
/// async fn titles(context: &QueryContext<'_>) -> Result<Vec<serde_json::Value>, QueryError> {
///     context.sql(BY_AUTHOR, vec![Cell::Text("J. R. R. Tolkien".into())]).await
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Sql {
    /// For SQLite, with `?1` for the first parameter.
    pub sqlite: &'static str,
    /// For PostgreSQL, with `$1` for the first parameter.
    pub postgres: &'static str,
}
