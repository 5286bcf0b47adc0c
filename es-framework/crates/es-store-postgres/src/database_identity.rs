//! Returns whether two connections lead to the same database.

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use sqlx::PgConnection;

use super::{database_error::DatabaseError, read_pool::ReadStep};

/// A standby has the identifier of its primary. The schemas and the table's number tell apart what
/// one database holds under the same names, and the user decides on the rights.
const READ: &str = "SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()), \
     current_database(), current_user, current_schemas(false)::text, to_regclass('es_head')::oid)";

/// The database, schemas and user of a connection. Two connections with the same identity see the
/// same tables and may do the same.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseIdentity(String);

impl DatabaseIdentity {
    /// Returns the identity of the database that a connection leads to, or `None` if the server does not
    /// tell it.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn read_from_database(
        connection: &mut PgConnection,
    ) -> BoxFuture<'_, Result<Option<Self>, sqlx::Error>> {
        Box::pin(async move {
            match sqlx::query_scalar(READ).fetch_one(connection).await {
                Ok(identity) => Ok(Some(Self(identity))),
                Err(sqlx::Error::Database(_)) => Ok(None),
                Err(error) => Err(error),
            }
        })
    }
}

/// Reads the identity of the connections of a store.
pub(super) struct IdentityReadStep;

#[async_trait]
impl ReadStep for IdentityReadStep {
    type Output = Option<DatabaseIdentity>;

    async fn run(&self, connection: &mut PgConnection) -> Result<Self::Output, DatabaseError> {
        Ok(DatabaseIdentity::read_from_database(connection).await?)
    }
}
