//! PostgreSQL's own index of groups of three characters.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{
    super::{
        super::{
            Table,
            tables::{lowered, quoted},
        },
        DatabaseError,
    },
    PostgresDatabase,
};

const EXTENSION: &str = "CREATE EXTENSION IF NOT EXISTS pg_trgm";
/// An index whose making was interrupted is there, but of no use.
const IS_USABLE: &str = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";

impl PostgresDatabase {
    /// Makes the indexes that are not there, while rows are read and written. The table of a
    /// rebuild comes without.
    pub(in super::super) async fn index(&self, table: &Table) -> Result<(), DatabaseError> {
        let missing = self.missing(table).await?;
        if missing.is_empty() {
            return Ok(());
        }
        let rows = quoted(table.model.name);
        // Projecting goes on over the other connection.
        let mut connection = PgConnection::connect_with(&self.options).await?;
        sqlx::query(EXTENSION).execute(&mut connection).await?;
        for (column, name) in missing {
            let column = lowered(column);
            for statement in [
                format!("DROP INDEX CONCURRENTLY IF EXISTS {name}"),
                format!(
                    "CREATE INDEX CONCURRENTLY {name} ON {rows} USING gin ({column} gin_trgm_ops)"
                ),
                // Whether the index helps depends on how frequent a part is.
                format!("ANALYZE {rows} ({column})"),
            ] {
                let statement = sqlx::query(AssertSqlSafe(statement));
                statement.execute(&mut connection).await?;
            }
        }
        Ok(connection.close().await?)
    }

    /// The searched columns without an index, and what that should be called.
    async fn missing(&self, table: &Table) -> Result<Vec<(&'static str, String)>, DatabaseError> {
        let mut missing = Vec::new();
        for column in &table.searched {
            let name = quoted(&format!("{}_{column}_part", table.model.name));
            let is_usable = sqlx::query_scalar(IS_USABLE).bind(&name);
            let is_usable: Option<bool> = is_usable.fetch_optional(&self.reader).await?;
            if is_usable != Some(true) {
                missing.push((*column, name));
            }
        }
        Ok(missing)
    }

    /// Whether all searched columns have an index.
    pub(in super::super) async fn is_indexed(&self, table: &Table) -> Result<bool, DatabaseError> {
        Ok(self.missing(table).await?.is_empty())
    }
}
