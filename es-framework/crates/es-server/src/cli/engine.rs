//! The existing store that a subcommand works on: a data directory or a PostgreSQL database.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;

use super::cli_error::{CliError, StartError};
use es_store::{EventStore, StoreError, strip_postgres_scheme};
#[cfg(feature = "postgres")]
use es_store_postgres::{PostgresStore, PostgresStoreOptions, StoreAddress};
use es_store_sqlite::{EmbeddedStore, EmbeddedStoreOptions};

/// The existing store that a subcommand works on.
#[derive(Args)]
pub(super) struct ExistingStoreArguments {
    /// The data directory of the event store, which must not be running.
    #[arg(
        long,
        env = "EVENT_STORE_DATA_DIR",
        value_name = "PATH",
        required_unless_present = "engine"
    )]
    data_directory: Option<PathBuf>,
    /// A PostgreSQL database instead, such as postgres://user:password@host-1,host-2/database. Running
    /// event stores may use it.
    #[arg(
        long,
        env = "EVENT_STORE_ENGINE",
        hide_env_values = true,
        value_name = "URL"
    )]
    engine: Option<String>,
}

/// Without the engine, whose URL may contain a password.
impl std::fmt::Debug for ExistingStoreArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ExistingStoreArguments")
    }
}

impl ExistingStoreArguments {
    /// Opens an existing store. A wrong path must not create a new one.
    pub(super) async fn open_existing(&self) -> Result<OpenEngine, CliError> {
        match (&self.engine, &self.data_directory) {
            (Some(url), _) => Ok(OpenEngine::connect(url).await?),
            (None, Some(directory)) => Ok(open_existing(directory)?),
            (None, None) => Err(StartError::NoDirectory.into()),
        }
    }
}

/// Opens the store in a directory that has one.
pub(super) fn open_existing(directory: &Path) -> Result<OpenEngine, CliError> {
    refuse_url(directory)?;
    if !EmbeddedStore::exists_in(directory) {
        return Err(CliError::NoStore(directory.to_owned()));
    }
    let mut options = EmbeddedStoreOptions::default();
    options.skip_verification = true;
    let store = EmbeddedStore::open_with_options(directory, options)?;
    Ok(OpenEngine::Embedded(Box::new(store)))
}

/// Refuses a URL as a directory. The error must not contain it: it may have a password.
pub(super) fn refuse_url(directory: &Path) -> Result<(), StartError> {
    let text = directory.to_str().unwrap_or_default();
    if strip_postgres_scheme(text).is_some() {
        return Err(StartError::UrlAsDirectory);
    }
    match text.split_once("://") {
        Some((scheme, _)) if !scheme.contains(['/', '\\']) => Err(StartError::UnsupportedUrl),
        _ => Ok(()),
    }
}

/// An open store.
#[derive(Debug)]
pub(super) enum OpenEngine {
    Embedded(Box<EmbeddedStore>),
    #[cfg(feature = "postgres")]
    Postgres(PostgresStore),
}

impl OpenEngine {
    /// Opens the store in a directory, or creates it. Without a directory, the store is temporary.
    pub(super) fn open_or_create(
        directory: Option<&Path>,
        options: EmbeddedStoreOptions,
    ) -> Result<Self, StartError> {
        directory.map_or(Ok(()), refuse_url)?;
        Ok(Self::Embedded(Box::new(match directory {
            Some(directory) => EmbeddedStore::open_with_options(directory, options)?,
            None => EmbeddedStore::temporary_with_options(options)?,
        })))
    }

    /// Connects to the database of a URL for a command that ends soon.
    pub(super) async fn connect(url: &str) -> Result<Self, StartError> {
        let mut options = EmbeddedStoreOptions::default();
        options.skip_verification = true;
        Self::connect_to_postgres(url, options).await
    }

    /// Connects to the database of a URL.
    #[cfg(feature = "postgres")]
    pub(super) async fn connect_to_postgres(
        url: &str,
        options: EmbeddedStoreOptions,
    ) -> Result<Self, StartError> {
        let address: StoreAddress = url
            .parse()
            .map_err(|error| StartError::Engine(format!("{error}")))?;
        let mut settings = PostgresStoreOptions::default();
        settings.skip_verification = options.skip_verification;
        let versioned = address.hash_version(options.hash_version);
        let opened = PostgresStore::open_with_options(versioned, settings).await;
        let store = opened.map_err(|error| StartError::Engine(error.to_string()))?;
        Ok(Self::Postgres(store))
    }

    /// Refuses every URL, because the program has no other engine.
    #[cfg(not(feature = "postgres"))]
    pub(super) async fn connect_to_postgres(
        _url: &str,
        _options: EmbeddedStoreOptions,
    ) -> Result<Self, StartError> {
        let reason = "this program was compiled without the feature `postgres`";
        Err(StartError::Engine(reason.into()))
    }

    /// Returns the store.
    pub(super) fn port(&self) -> Arc<dyn EventStore> {
        match self {
            Self::Embedded(store) => Arc::new((**store).clone()),
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => Arc::new(store.clone()),
        }
    }

    /// Builds the tables that follow from the events again.
    pub(super) async fn rebuild_tables(&self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.rebuild_tables().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.rebuild_tables().await,
        }
    }

    /// Returns the file of the events, if there is one.
    pub(super) fn file(&self) -> Option<PathBuf> {
        match self {
            Self::Embedded(store) => Some(store.file()),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Embedded(store) => store.close().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.close().await,
        }
    }
}
