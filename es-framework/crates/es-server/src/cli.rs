//! The command line of the program `event-store`. It has the flags of the event store whose protocol it
//! speaks, so that scripts and test containers work without a change.

mod cli_error;
mod copy;
mod engine;
mod line_input;
mod offline;
mod output;
mod progress_bar;
mod stats;
mod transfer;

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    process::ExitCode,
    time::Duration,
};

use clap::{ArgMatches, Args, FromArgMatches as _, Parser, Subcommand};
use es_net::{hide_secrets_in_error, shutdown, start_server_runtime};
use es_observe::telemetry;
use tokio::{net::TcpListener, runtime::Runtime, time::timeout};
use tracing::level_filters::LevelFilter;

use self::{
    cli_error::{CliError, StartError},
    copy::CopyArguments,
    engine::{ExistingStoreArguments, OpenEngine},
    offline::{BackupArguments, RestoreArguments, VerifyArguments},
    transfer::{ExportArguments, ImportArguments},
};
use super::{serve::serve, server_settings::ServerSettings, signing::SigningKey};
use es_event::{Dialect, HashVersion};
use es_store::max_inline_reads;
use es_store_sqlite::EmbeddedStoreOptions;

/// An event store that speaks versions 1 and 2 of EventSourcingDB's HTTP API.
///
/// `run` serves the store. The other commands work on a PostgreSQL database or on a data directory
/// that no running event store uses. A running event store does some of this at its endpoints, such as POST /api/v1/backup.
#[derive(Debug, Parser)]
#[command(name = "event-store", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: EventStoreSubcommand,
}

const EXAMPLES: &str = "\
Examples:
  event-store run --api-token secret --data-directory ./events
      Stores events in ./events and serves http://127.0.0.1:3000.
  event-store verify --data-directory ./events
      Checks that no event was changed, removed or inserted.
  event-store backup --data-directory ./events --output monday.ndjson
  event-store restore --data-directory ./elsewhere --input monday.ndjson
      Copies a store byte for byte, including ids and hashes.
  event-store copy --from ./events --to postgres://events@db-1,db-2/library
      Copies a store to another engine, and verifies the copy.
  event-store export --data-directory ./events --subject /books | \\
      event-store import --data-directory ./other
      Copies some events to another store, as new events with new ids.";

#[derive(Debug, Subcommand)]
enum EventStoreSubcommand {
    /// Starts the event store and serves it until SIGINT or SIGTERM.
    Run(RunArguments),
    /// Checks the whole hash chain and the tables that follow from it, and lists the damage.
    ///
    /// Damage closes the log for writing, and a whole log is opened again. The exit code is 0 for a whole log, 1 for a damaged
    /// one and 2 if the check failed.
    Verify(VerifyArguments),
    /// Writes all schemas and events as lines of JSON, for `restore`.
    Backup(BackupArguments),
    /// Creates an exact copy of a store from its backup.
    ///
    /// The command rejects a backup whose end is missing, and one with a changed event or schema. It then leaves no
    /// file behind.
    Restore(RestoreArguments),
    /// Writes events as lines of JSON, in the format that clients read.
    Export(ExportArguments),
    /// Writes the events of an export, or candidates as clients send them, as new events.
    ///
    /// The events get new ids, times and hashes. They must match the schemas of their types. The
    /// command writes a thousand events at a time, and reports after an error how many it has written.
    Import(ImportArguments),
    /// Counts the events, subjects and event types of a store.
    Stats(ExistingStoreArguments),
    /// Copies a store to another engine, with the ids, times and hashes of its events.
    ///
    /// The command verifies the copy at the end. After an interruption, it continues when it runs
    /// again.
    Copy(CopyArguments),
}

#[derive(Args)]
struct RunArguments {
    /// The token that clients send as `Authorization: Bearer <API_TOKEN>`.
    #[arg(long, env = "EVENT_STORE_API_TOKEN", hide_env_values = true)]
    api_token: String,
    /// Stores the events in this directory.
    #[arg(
        long,
        env = "EVENT_STORE_DATA_DIR",
        conflicts_with = "data_directory_temporary"
    )]
    data_directory: Option<PathBuf>,
    /// Stores the events in a temporary directory, which the end of the program removes.
    #[arg(long, env = "EVENT_STORE_DATA_DIRECTORY_TEMPORARY")]
    data_directory_temporary: bool,
    /// Stores the events in a PostgreSQL database, such as
    /// postgres://user:password@host-1,host-2/database. Any number of servers may share it.
    #[arg(
        long,
        env = "EVENT_STORE_ENGINE",
        hide_env_values = true,
        value_name = "URL"
    )]
    engine: Option<String>,
    /// Serves HTTP. It must stay true, because the program serves nothing else.
    #[arg(long, env = "EVENT_STORE_HTTP_ENABLED", num_args = 0..=1, require_equals = true,
          default_value = "true", default_missing_value = "true", action = clap::ArgAction::Set)]
    http_enabled: bool,
    /// Serves HTTPS. It must stay false: put a TLS proxy in front instead.
    #[arg(long, env = "EVENT_STORE_HTTPS_ENABLED", num_args = 0..=1, require_equals = true,
          default_value = "false", default_missing_value = "true", action = clap::ArgAction::Set)]
    https_enabled: bool,
    /// The address on which the server listens.
    #[arg(long, env = "EVENT_STORE_HTTP_HOST", default_value = "127.0.0.1")]
    http_host: IpAddr,
    /// The port on which the server listens. 0 selects a free port, which the log names.
    #[arg(long, env = "EVENT_STORE_HTTP_PORT", default_value_t = 3000)]
    http_port: u16,
    /// A PKCS#8 PEM file with the Ed25519 private key that signs events in dialect `event`.
    #[arg(long, env = "EVENT_STORE_SIGNING_KEY_FILE")]
    signing_key_file: Option<PathBuf>,
    /// The largest number of observers at once. One more gets status 503.
    #[arg(long, env = "EVENT_STORE_OBSERVER_LIMIT", default_value_t = 100)]
    observer_limit: usize,
    /// The format of events in version 1 of the API: `item` as before protocol version 1.0, `event` as
    /// since then.
    #[arg(long, env = "EVENT_STORE_DIALECT", default_value_t)]
    dialect: Dialect,
    /// The version in which the hashes of new events are computed: 1, which all clients verify, or 2,
    /// as EventSourcingDB since version 1.3. Stored events keep their hashes.
    #[arg(long, env = "EVENT_STORE_HASH_VERSION", default_value_t)]
    hash_version: HashVersion,
}

impl std::fmt::Debug for RunArguments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RunArguments")
    }
}

/// Returns the definition of the command line, for its reference.
#[doc(hidden)]
#[must_use]
pub fn clap_command() -> clap::Command {
    <Cli as clap::CommandFactory>::command()
}

/// Runs the program with the arguments of this process.
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     es_server::cli::main()
/// }
/// ```
#[must_use]
pub fn main() -> ExitCode {
    let mut definition = clap_command();
    let parsed = definition.try_get_matches_from_mut(std::env::args_os());
    let matches = parsed.unwrap_or_else(|error| hide_secrets_in_error(error, &definition).exit());
    run(&matches).into()
}

/// Runs the command of a command line with the definition of [`clap_command`]. Returns the exit code.
#[doc(hidden)]
#[must_use]
pub fn run(matches: &ArgMatches) -> u8 {
    let command = Cli::from_arg_matches(matches)
        .unwrap_or_else(|error| hide_secrets_in_error(error, &clap_command()).exit())
        .command;
    // Other commands print their results, but a server shows only its log.
    let level = if matches!(command, EventStoreSubcommand::Run(_)) {
        LevelFilter::INFO
    } else {
        LevelFilter::WARN
    };
    telemetry::log_to_stderr(level);
    match run_command(&command) {
        Ok(is_whole) => u8::from(!is_whole),
        Err(error) => {
            // Printed instead of logged, because a log filter must not hide it.
            output::report(format_args!("error: {error}"));
            match command {
                EventStoreSubcommand::Verify(_) => 2,
                _ => 1,
            }
        }
    }
}

/// Returns false if the store that was checked is damaged.
fn run_command(command: &EventStoreSubcommand) -> Result<bool, CliError> {
    if let EventStoreSubcommand::Run(arguments) = command {
        run_server(arguments)?;
        return Ok(true);
    }
    Runtime::new()?.block_on(async {
        match command {
            EventStoreSubcommand::Run(_) => {}
            EventStoreSubcommand::Verify(arguments) => {
                return offline::verify_store(arguments).await;
            }
            EventStoreSubcommand::Backup(arguments) => offline::back_up(arguments).await?,
            EventStoreSubcommand::Restore(arguments) => offline::restore(arguments)?,
            EventStoreSubcommand::Export(arguments) => transfer::export(arguments).await?,
            EventStoreSubcommand::Import(arguments) => transfer::import(arguments).await?,
            EventStoreSubcommand::Copy(arguments) => return copy::copy(arguments).await,
            EventStoreSubcommand::Stats(directory) => stats::print_stats(directory).await?,
        }
        Ok(true)
    })
}

/// The time that the store has to close. Every acknowledged event is durable before, so the end of the
/// process is at worst a crash, from which the next start recovers.
const CLOSE_TIME: Duration = Duration::from_secs(5);

fn run_server(arguments: &RunArguments) -> Result<(), StartError> {
    let settings = server_settings(arguments)?;
    let runtime = start_server_runtime(max_inline_reads())?;
    let served = runtime.block_on(async {
        let engine = open_engine(arguments).await?;
        let store = engine.port();
        let address = SocketAddr::new(arguments.http_host, arguments.http_port);
        let failed = |error| StartError::Listen(address, error);
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let stop = shutdown::stop_signal()?;
        tracing::info!("{}: listening on http://{address}", store.description());
        serve(listener, store, settings, stop).await;
        if timeout(CLOSE_TIME, engine.close()).await.is_err() {
            tracing::error!(
                "the store did not close within {} seconds, so the process ends without it",
                CLOSE_TIME.as_secs()
            );
        }
        tracing::info!("stopped");
        Ok(())
    });
    // Everything that had to be written is durable. A check or a query that still runs must not delay
    // the end.
    runtime.shutdown_background();
    served
}

fn server_settings(run: &RunArguments) -> Result<ServerSettings, StartError> {
    if run.https_enabled {
        return Err(StartError::Https);
    }
    if !run.http_enabled {
        return Err(StartError::NothingServed);
    }
    if run.hash_version == HashVersion::V2 && run.dialect == Dialect::Item {
        return Err(StartError::HashVersion);
    }
    let mut settings = ServerSettings::new(run.api_token.parse()?);
    settings.dialect = run.dialect;
    settings.observers_limit = run.observer_limit;
    let key = run.signing_key_file.as_deref().map(SigningKey::load);
    settings.signing_key = key.transpose()?;
    Ok(settings)
}

async fn open_engine(run: &RunArguments) -> Result<OpenEngine, StartError> {
    let mut options = EmbeddedStoreOptions::default();
    options.hash_version = run.hash_version;
    match (&run.engine, &run.data_directory) {
        (Some(url), _) => OpenEngine::connect_to_postgres(url, options).await,
        (None, None) if !run.data_directory_temporary => Err(StartError::NoDirectory),
        (None, directory) => OpenEngine::open_or_create(directory.as_deref(), options),
    }
}
