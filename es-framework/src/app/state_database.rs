//! The database of the tasks of reactions.

use es_subscribe::state::StateDatabase;

#[cfg(feature = "postgres")]
use crate::store::postgres::StoreAddress;
use crate::{
    Error, Result, config::Settings, projection::DatabaseUrl, reaction::Reactions,
    store::EventStore,
};

/// Opens the database that a setting names. Without it, this is the PostgreSQL database of the events, or a file in the
/// data folder. Events in memory have their tasks in memory, too.
pub(super) async fn open_state_database(
    settings: &Settings,
    reactions: &Reactions,
    store: &dyn EventStore,
    has_store_of_code: bool,
) -> Result<StateDatabase> {
    if reactions.iter().next().is_none() {
        // It is never opened.
        return Ok(StateDatabase::in_memory());
    }
    let url = match &settings.state_database_url {
        Some(DatabaseUrl::Memory) if !store.is_volatile() => {
            return Err(Error::new(
                "STATE_DATABASE_URL names a database in memory, so the next start would not know the tasks of reactions: name a file or a PostgreSQL database",
            ));
        }
        Some(url) => url.clone(),
        None if store.is_volatile() => DatabaseUrl::Memory,
        None => default_url(settings, has_store_of_code)?,
    };
    let database = StateDatabase::open(url.clone()).await.map_err(failed)?;
    tracing::info!("tasks of reactions are stored in {url}");
    Ok(database)
}

#[cfg_attr(
    not(feature = "postgres"),
    expect(
        unused_variables,
        reason = "only PostgreSQL has the events and the tasks"
    )
)]
fn default_url(settings: &Settings, has_store_of_code: bool) -> Result<DatabaseUrl> {
    match &settings.event_store_url {
        #[cfg(feature = "postgres")]
        Some(url) if url.is_postgres() && !has_store_of_code => {
            let address: StoreAddress = url.reveal().parse().map_err(failed)?;
            Ok(DatabaseUrl::Postgres(address.database_url().to_owned()))
        }
        _ => {
            let folder = settings.data_folder()?;
            std::fs::create_dir_all(folder).map_err(failed)?;
            Ok(DatabaseUrl::File(folder.join("state.sqlite")))
        }
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::because(
        "the database of the tasks of reactions cannot be opened",
        error,
    )
}
