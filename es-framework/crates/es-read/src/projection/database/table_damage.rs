//! Finds tables that lack something that their declaration has.

use super::{super::Table, Database, DatabaseError};

impl Database {
    /// Removes what earlier rows left in the files, as far as the database can do that.
    ///
    /// # Errors
    /// The database does not answer.
    #[doc(hidden)]
    pub async fn scrub(&self) -> Result<(), DatabaseError> {
        self.sql.scrub().await
    }

    /// Tells the processor if a query found a damaged table.
    pub(super) fn report_damage<T>(
        &self,
        result: Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        if result.as_ref().is_err_and(DatabaseError::is_table_damage) {
            self.damage.notify_one();
        }
        result
    }

    /// Waits until a query finds a damaged table.
    pub(in crate::projection) async fn damage_reported(&self) {
        self.damage.notified().await;
    }

    /// Returns false if a table lacks something that its declaration has.
    pub(in crate::projection) async fn is_table_whole(
        &self,
        table: &Table,
    ) -> Result<bool, DatabaseError> {
        match self.check_table(table).await {
            Err(error) if error.is_table_damage() => {
                tracing::error!(read_model = table.model.name, %error, "the table of a read model is damaged");
                Ok(false)
            }
            checked => checked.map(|()| true),
        }
    }
}
