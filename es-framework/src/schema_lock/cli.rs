//! The subcommand `schema` of every application: `check`, `lock` and `show`.

use std::{
    env,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, FromArgMatches as _, Parser, Subcommand};

use super::{FILE, Lock, LockError, SchemaError, check};
use crate::{Error, Result, command::Registry};

/// The name of the subcommand.
pub(crate) const NAME: &str = "schema";

/// Keeps every stored event readable: compares the declared events with a committed file.
#[derive(Debug, Parser)]
#[command(name = NAME)]
struct Schema {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Says which changes would orphan stored events, and fails unless the file is up to date.
    Check(Place),
    /// Writes the file, unless a change would orphan stored events.
    Lock {
        #[command(flatten)]
        place: Place,
        /// Type of an event whose loss is meant: what was stored of it is given up. May be repeated.
        #[arg(long, value_name = "EVENT_TYPE")]
        accept_loss: Vec<String>,
    },
    /// Prints what the file would hold.
    Show,
}

#[derive(Debug, Args)]
struct Place {
    /// The file. Without it, events.lock.json beside Cargo.toml under `cargo run`, or else here.
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Place {
    fn file(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| {
            let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
            Path::new(&folder).join(FILE)
        })
    }
}

/// The subcommand, for the application's command line.
pub(crate) fn command() -> clap::Command {
    <Schema as clap::CommandFactory>::command()
}

/// Carries it out.
pub(crate) fn run(matches: &clap::ArgMatches, registry: &Registry) -> Result<()> {
    let schema = Schema::from_arg_matches(matches).unwrap_or_else(|error| error.exit());
    let outcome = match schema.command {
        Command::Check(place) => check_file(&place.file(), registry),
        Command::Lock { place, accept_loss } => lock(&place.file(), registry, &accept_loss),
        Command::Show => Ok(Lock::of(registry.events()).text()),
    };
    let text = outcome.map_err(|error| Error::new(error.to_string()))?;
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}

fn check_file(file: &Path, registry: &Registry) -> Result<String, SchemaError> {
    let events = registry.events();
    check(file, events, &registry.upcasters())?;
    Ok(format!(
        "{}: all {} events are read as they were stored\n",
        file.display(),
        events.len()
    ))
}

fn lock(file: &Path, registry: &Registry, accepted: &[String]) -> Result<String, SchemaError> {
    let (events, upcasters) = (registry.events(), registry.upcasters());
    let lock = Lock::of(events);
    let earlier = match Lock::read(file) {
        // Nothing is promised yet.
        Err(LockError::Missing(_)) => lock.clone(),
        earlier => earlier?,
    };
    let mut lost = earlier.compare(events, &upcasters).findings;
    let is_lost = |event_type: &&String| lost.iter().any(|one| one.event_type() == *event_type);
    if let Some(other) = accepted.iter().find(|one| !is_lost(one)) {
        return Err(SchemaError::NotLost(other.clone()));
    }
    lost.retain(|finding| !accepted.iter().any(|one| one == finding.event_type()));
    if !lost.is_empty() {
        return Err(SchemaError::Orphans(lost));
    }
    // A schema that promises what the code does not take would turn up as a loss later.
    let inexact = lock.compare(events, &upcasters).findings;
    if !inexact.is_empty() {
        return Err(SchemaError::Inexact(inexact));
    }
    lock.write(file)?;
    Ok(format!(
        "{}: locked {} events\n",
        file.display(),
        lock.len()
    ))
}
