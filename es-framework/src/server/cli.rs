//! The command line of the `event-store` binary: the spelling of the event store whose protocol it
//! speaks, so that scripts and test containers need no change.

mod offline;
mod output;
mod progress;
mod stats;
mod transfer;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Parser, Subcommand};
use tokio::{net::TcpListener, runtime::Runtime};
use tracing_subscriber::EnvFilter;

use self::{
    offline::{Backup, DataDirectory, RestoreArguments},
    transfer::{Export, Import},
};
use super::{InvalidApiToken, InvalidSigningKey, Settings, SigningKey, serve};
use crate::{
    config::DialectName,
    shutdown,
    store::{
        EventStore as _, StoreError,
        sqlite::{EmbeddedStore, OpenError, RestoreError},
    },
    telemetry,
};

/// An event store that speaks version 1 of EventSourcingDB's HTTP API.
///
/// `run` serves it. All other commands work on a data directory on which no event store is running;
/// a running one offers the same at its endpoints, such as POST /api/v1/backup.
#[derive(Debug, Parser)]
#[command(name = "event-store", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  event-store run --api-token secret --data-directory ./events
      Keeps events in ./events and serves http://127.0.0.1:3000.
  event-store verify --data-directory ./events
      Checks that no event was changed, taken out or put in.
  event-store backup --data-directory ./events --output monday.ndjson
  event-store restore --data-directory ./elsewhere --input monday.ndjson
      Brings a store to another place, byte for byte, ids and hashes included.
  event-store export --data-directory ./events --subject /books | \\
      event-store import --data-directory ./other
      Writes a part of the events to another store, as new events with new ids.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts the event store and serves it until SIGINT or SIGTERM.
    Run(Run),
    /// Walks the whole hash chain and says where it breaks.
    ///
    /// The exit code is 0 for a whole chain, 1 for a broken one and 2 when it could not be checked.
    Verify(DataDirectory),
    /// Writes all schemas and events as lines of JSON, for `restore`.
    Backup(Backup),
    /// Makes a store of a backup, exactly as it was.
    ///
    /// A backup that is not whole or in which an event was changed is refused, and then nothing is
    /// left behind.
    Restore(RestoreArguments),
    /// Writes events as lines of JSON, in the shape that clients read.
    Export(Export),
    /// Writes the events of an export, or candidates as clients send them, as new events.
    ///
    /// They get new ids, times and hashes, a thousand in a write, and must follow the schemas of
    /// their types. After an error it says how many were written.
    Import(Import),
    /// Says what a store holds.
    Stats(DataDirectory),
}

#[derive(Args)]
struct Run {
    /// The token that clients send as `Authorization: Bearer <API_TOKEN>`.
    #[arg(long, env = "EVENT_STORE_API_TOKEN", hide_env_values = true)]
    api_token: String,
    /// Keeps the events in this directory.
    #[arg(
        long,
        env = "EVENT_STORE_DATA_DIR",
        conflicts_with = "data_directory_temporary"
    )]
    data_directory: Option<PathBuf>,
    /// Forgets the events at the end.
    #[arg(long, env = "EVENT_STORE_DATA_DIRECTORY_TEMPORARY")]
    data_directory_temporary: bool,
    /// Serves HTTP, the only thing that is served.
    #[arg(long, env = "EVENT_STORE_HTTP_ENABLED", num_args = 0..=1, require_equals = true,
          default_value = "true", default_missing_value = "true", action = clap::ArgAction::Set)]
    http_enabled: bool,
    /// Must stay false: put a proxy that speaks TLS in front instead.
    #[arg(long, env = "EVENT_STORE_HTTPS_ENABLED", num_args = 0..=1, require_equals = true,
          default_value = "false", default_missing_value = "true", action = clap::ArgAction::Set)]
    https_enabled: bool,
    /// The address to listen on.
    #[arg(long, env = "EVENT_STORE_HTTP_HOST", default_value = "127.0.0.1")]
    http_host: IpAddr,
    /// The port to listen on; 0 takes any free one, which the start names.
    #[arg(long, env = "EVENT_STORE_HTTP_PORT", default_value_t = 3000)]
    http_port: u16,
    /// An Ed25519 private key, PKCS#8 PEM, that signs the events sent in dialect `event`.
    #[arg(long, env = "EVENT_STORE_SIGNING_KEY_FILE")]
    signing_key_file: Option<PathBuf>,
    /// How many observers there may be at once; one more is answered with 503.
    #[arg(long, env = "EVENT_STORE_OBSERVER_LIMIT", default_value_t = 100)]
    observer_limit: usize,
    /// The shape of events: `item` as before version 1.0, `event` as since.
    #[arg(long, env = "EVENT_STORE_DIALECT", value_enum, default_value_t)]
    dialect: DialectName,
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Run")
    }
}

/// Why the event store did not start.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("HTTPS is not served: start with --https-enabled=false and put a TLS proxy in front")]
    Https,
    #[error("nothing would be served: start with --http-enabled")]
    NothingServed,
    #[error("--api-token: {0}")]
    Token(#[from] InvalidApiToken),
    #[error("--signing-key-file: {0}")]
    SigningKey(#[from] InvalidSigningKey),
    #[error("say where the events are kept: --data-directory <PATH> or --data-directory-temporary")]
    NoDirectory,
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("cannot listen on http://{0}: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("the system refused what every program needs: {0}")]
    System(#[from] io::Error),
}

/// Why a command came to nothing.
#[derive(Debug, thiserror::Error)]
enum CommandError {
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
    #[error("line {0}: {1}")]
    Line(usize, String),
    #[error("line {0}: {1}\n{2} events were imported before")]
    Import(usize, String, u64),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The command line, for its reference.
#[cfg(test)]
pub(crate) fn command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the binary on the process's own arguments.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     es_framework::server::cli::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    // What a command has to say it says itself; a server's log is all that is seen of it.
    let level = if matches!(command, Command::Run(_)) {
        "info"
    } else {
        "warn"
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    telemetry::log_to_stderr(filter);
    match perform(&command) {
        Ok(code) => code,
        Err(error) => {
            // Not logged: a filter on the log must not hide why there is no event store.
            eprintln!("error: {error}");
            match command {
                Command::Verify(_) => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn perform(command: &Command) -> Result<ExitCode, CommandError> {
    if let Command::Run(run) = command {
        start(run)?;
        return Ok(ExitCode::SUCCESS);
    }
    Runtime::new()?.block_on(async {
        match command {
            Command::Run(_) => {}
            Command::Verify(directory) => return offline::verify_store(directory).await,
            Command::Backup(arguments) => offline::back_up(arguments).await?,
            Command::Restore(arguments) => offline::restore(arguments)?,
            Command::Export(arguments) => transfer::export(arguments).await?,
            Command::Import(arguments) => transfer::import(arguments).await?,
            Command::Stats(directory) => stats::stats(directory).await?,
        }
        Ok(ExitCode::SUCCESS)
    })
}

fn start(run: &Run) -> Result<(), StartError> {
    let settings = settings(run)?;
    Runtime::new()?.block_on(async {
        let store = open_store(run)?;
        let address = SocketAddr::new(run.http_host, run.http_port);
        let failed = |error| StartError::Listen(address, error);
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = shutdown::requested()?;
        tracing::info!("{}: listening on http://{address}", store.description());
        serve(listener, Arc::new(store.clone()), settings, stop).await;
        store.close().await;
        tracing::info!("stopped");
        Ok(())
    })
}

fn settings(run: &Run) -> Result<Settings, StartError> {
    if run.https_enabled {
        return Err(StartError::Https);
    }
    if !run.http_enabled {
        return Err(StartError::NothingServed);
    }
    let mut settings = Settings::new(run.api_token.parse()?);
    settings.dialect = run.dialect.into();
    settings.observers_limit = run.observer_limit;
    let key = run.signing_key_file.as_deref().map(SigningKey::read);
    settings.signing_key = key.transpose()?;
    Ok(settings)
}

fn open_store(run: &Run) -> Result<EmbeddedStore, StartError> {
    match &run.data_directory {
        Some(directory) => Ok(EmbeddedStore::open(directory)?),
        None if run.data_directory_temporary => Ok(EmbeddedStore::temporary()?),
        None => Err(StartError::NoDirectory),
    }
}
