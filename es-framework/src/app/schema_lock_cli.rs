//! The subcommand `schema` of every application, with `check`, `lock` and `show`.

use std::{
    env,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, FromArgMatches as _, Parser, Subcommand};

use crate::{
    Error, Result,
    command::Registry,
    schema_lock::{FILE, SchemaCheckError, SchemaLock, check, update},
};

/// The name of the subcommand.
pub(crate) const NAME: &str = "schema";

/// Compares the declared events with the committed lock file, so that stored events stay readable.
#[derive(Debug, Parser)]
#[command(name = NAME)]
struct SchemaArguments {
    #[command(subcommand)]
    subcommand: SchemaSubcommand,
}

#[derive(Debug, Subcommand)]
enum SchemaSubcommand {
    /// Lists changes that would make stored events unreadable. Fails unless the lock file is up to
    /// date.
    Check(LockFileArguments),
    /// Writes the lock file. Fails if a change would make stored events unreadable.
    Lock {
        #[command(flatten)]
        lock_file: LockFileArguments,
        /// Accepts the loss of stored data of this event type. May be repeated.
        #[arg(long, value_name = "EVENT_TYPE")]
        accept_loss: Vec<String>,
    },
    /// Prints the contents that `lock` would write.
    Show,
}

#[derive(Debug, Args)]
struct LockFileArguments {
    /// Path of the lock file. Default: events.lock.json beside Cargo.toml under `cargo run`,
    /// otherwise in the current folder.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl LockFileArguments {
    fn file(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| {
            let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
            Path::new(&folder).join(FILE)
        })
    }
}

/// Returns the subcommand for the application's command line.
pub(crate) fn clap_command() -> clap::Command {
    <SchemaArguments as clap::CommandFactory>::command()
}

/// Runs the subcommand.
pub(crate) fn run_schema_subcommand(matches: &clap::ArgMatches, registry: &Registry) -> Result<()> {
    let schema = SchemaArguments::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let outcome = match schema.subcommand {
        SchemaSubcommand::Check(lock_file) => check_file(&lock_file.file(), registry),
        SchemaSubcommand::Lock {
            lock_file,
            accept_loss,
        } => lock(&lock_file.file(), registry, &accept_loss),
        SchemaSubcommand::Show => Ok(SchemaLock::from_events(registry.events()).to_text()),
    };
    let text = outcome.map_err(|error| Error::new(error.to_string()))?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}

fn check_file(file: &Path, registry: &Registry) -> Result<String, SchemaCheckError> {
    let events = registry.events();
    check(file, events, &registry.upcasters())?;
    Ok(format!(
        "{}: all {} events are read as they were stored\n",
        file.display(),
        events.len()
    ))
}

fn lock(file: &Path, registry: &Registry, accepted: &[String]) -> Result<String, SchemaCheckError> {
    let locked = update(file, registry.events(), &registry.upcasters(), accepted)?;
    Ok(format!("{}: locked {locked} events\n", file.display()))
}
