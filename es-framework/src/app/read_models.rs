//! The database of the read models.

use crate::{
    Error, Result,
    config::Settings,
    projection::{Database, ReadModels},
};

/// Opens the database, and creates the tables of the read models.
pub(super) async fn open_database(settings: &Settings, models: &ReadModels) -> Result<Database> {
    let url = &settings.database_url;
    let database = Database::open_with_query_timeout(url, models, settings.query_seconds)
        .await
        .map_err(|error| Error::because("the read models cannot be set up", error))?;
    tracing::info!("read models are stored in {}, {url}", database.kind());
    Ok(database)
}
