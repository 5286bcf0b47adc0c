//! The errors of the subcommands.

use std::{io, net::SocketAddr, path::PathBuf};

use super::super::signing::InvalidSigningKey;
use es_net::InvalidApiToken;
use es_store::StoreError;
#[cfg(feature = "postgres")]
use es_store_postgres::PostgresRestoreError;
use es_store_sqlite::{OpenError, RestoreError};

/// The reasons that the event store does not start.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error("HTTPS is not served: start with --https-enabled=false and put a TLS proxy in front")]
    Https,
    #[error("the server has nothing to serve: start with --http-enabled")]
    NothingServed,
    #[error("--hash-version 2 needs --dialect event: clients of dialect item know version 1 only")]
    HashVersion,
    #[error("--api-token: {0}")]
    Token(#[from] InvalidApiToken),
    #[error("--signing-key-file: {0}")]
    SigningKey(#[from] InvalidSigningKey),
    #[error(
        "say where the events are kept: --data-directory <PATH>, --data-directory-temporary or --engine <URL>"
    )]
    NoDirectory,
    #[error(
        "--data-directory (EVENT_STORE_DATA_DIR) is the URL of a PostgreSQL database: write it to --engine (EVENT_STORE_ENGINE)"
    )]
    UrlAsDirectory,
    #[error(
        "a data directory is a path and no URL of this kind: the only URL of a store is postgres://…"
    )]
    UnsupportedUrl,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("--engine: {0}")]
    Engine(String),
    #[error("cannot listen on http://{0}: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("the operating system refuses a basic service: {0}")]
    System(#[from] io::Error),
}

/// The reasons that a subcommand fails.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("{} holds no event store", .0.display())]
    NoStore(PathBuf),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Restore(#[from] RestoreError),
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    PostgresRestore(#[from] PostgresRestoreError),
    #[error("{0}")]
    Copy(String),
    #[error("line {0}: {1}")]
    Line(usize, String),
    #[error("line {0}: {1}\n{2} events were imported before")]
    Import(usize, String, u64),
    #[error(transparent)]
    Io(#[from] io::Error),
}
