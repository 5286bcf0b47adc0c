//! PostgreSQL's own index of groups of three characters.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use super::{
    super::{
        super::{
            Table,
            search::as_one_word,
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
        let mut statements = vec![EXTENSION.to_owned()];
        for (column, name) in missing {
            let text = as_one_word(&lowered(column));
            // Those of earlier releases are made of texts that no search compares.
            let earlier = ["part", "groups"]
                .map(|end| quoted(&format!("{}_{column}_{end}", table.model.name)));
            let useless = earlier.iter().chain([&name]);
            statements
                .extend(useless.map(|one| format!("DROP INDEX CONCURRENTLY IF EXISTS {one}")));
            statements.push(format!(
                "CREATE INDEX CONCURRENTLY {name} ON {rows} USING gin ({text} gin_trgm_ops)"
            ));
        }
        // Whether an index helps depends on how frequent a part is.
        statements.push(format!("ANALYZE {rows}"));
        // Projecting goes on over the other connection.
        let mut connection = PgConnection::connect_with(&self.options).await?;
        for statement in statements {
            let statement = sqlx::query(AssertSqlSafe(statement));
            statement.execute(&mut connection).await?;
        }
        Ok(connection.close().await?)
    }

    /// The searched columns without an index, and what that should be called.
    async fn missing(&self, table: &Table) -> Result<Vec<(&'static str, String)>, DatabaseError> {
        let mut missing = Vec::new();
        for column in &table.searched {
            let name = quoted(&format!("{}_{column}_parts", table.model.name));
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
