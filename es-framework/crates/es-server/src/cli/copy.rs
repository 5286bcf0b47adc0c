//! The subcommand `copy`: an exact copy of a store in another engine. A copy that was interrupted
//! continues when the subcommand runs again.

use std::{path::PathBuf, str::FromStr};

use clap::Args;
use futures_util::TryStreamExt as _;

use super::{
    cli_error::CliError,
    engine::{OpenEngine, open_existing, refuse_url},
    offline::count_events,
    output::report,
    progress_bar::{ProgressDisplay, verify_with_progress},
};
use es_event::{EventId, Hash, Subject};
use es_store::{
    Bound, Chain, EventLog, ReadOptions,
    backup::{self, BackupLine, LineTally},
    event_with_id, latest_event, strip_postgres_scheme,
};
#[cfg(feature = "postgres")]
use es_store_postgres::PostgresRestore;
use es_store_sqlite::{EmbeddedStore, Restore};

/// The arguments of `copy`.
#[derive(Debug, Args)]
pub(super) struct CopyArguments {
    /// The store to read: a data directory that no running event store uses, or postgres://….
    #[arg(long, value_name = "STORE")]
    from: StoreLocation,
    /// The store to write: a new data directory, or postgres://… of a database that nobody uses yet.
    #[arg(long, value_name = "STORE")]
    to: StoreLocation,
}

/// A place of a store.
#[derive(Clone)]
enum StoreLocation {
    Directory(PathBuf),
    Postgres(String),
}

impl FromStr for StoreLocation {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if strip_postgres_scheme(text).is_some() {
            Self::Postgres(text.to_owned())
        } else {
            Self::Directory(text.strip_prefix("file://").unwrap_or(text).into())
        })
    }
}

/// Without the password of a URL.
impl std::fmt::Debug for StoreLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory(directory) => write!(f, "{}", directory.display()),
            Self::Postgres(_) => f.write_str("postgres://…"),
        }
    }
}

impl StoreLocation {
    async fn open(&self) -> Result<OpenEngine, CliError> {
        match self {
            Self::Directory(directory) => open_existing(directory),
            Self::Postgres(url) => Ok(OpenEngine::connect(url).await?),
        }
    }
}

/// The store that receives the events.
enum CopyTarget {
    Directory(Box<Restore>),
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresRestore>),
}

impl CopyTarget {
    async fn begin(location: &StoreLocation) -> Result<Self, CliError> {
        match location {
            StoreLocation::Directory(directory) => {
                refuse_url(directory)?;
                Ok(Self::Directory(Box::new(Restore::resume(directory)?)))
            }
            #[cfg(feature = "postgres")]
            StoreLocation::Postgres(url) => {
                let parsed = url.parse();
                let address = parsed.map_err(|error| CliError::Copy(format!("{error}")))?;
                let restore = PostgresRestore::begin_or_continue(&address).await?;
                Ok(Self::Postgres(Box::new(restore)))
            }
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Postgres(url) => {
                OpenEngine::connect(url).await?;
                Err(CliError::Copy("there is no such engine".into()))
            }
        }
    }

    fn chain(&self) -> &Chain {
        match self {
            Self::Directory(restore) => restore.chain(),
            #[cfg(feature = "postgres")]
            Self::Postgres(restore) => restore.chain(),
        }
    }

    async fn add(&mut self, line: BackupLine) -> Result<(), CliError> {
        match self {
            Self::Directory(restore) => Ok(restore.add_line(line)?),
            #[cfg(feature = "postgres")]
            Self::Postgres(restore) => Ok(restore.add_line(line).await?),
        }
    }

    async fn finish(self) -> Result<Chain, CliError> {
        match self {
            Self::Directory(restore) => Ok(restore.finish()?),
            #[cfg(feature = "postgres")]
            Self::Postgres(restore) => Ok(restore.finish().await?),
        }
    }
}

pub(super) async fn copy(arguments: &CopyArguments) -> Result<bool, CliError> {
    let from = arguments.from.open().await?;
    let source = from.port();
    let total = count_events(&*source).await?;
    if is_finished(&arguments.to) {
        // An earlier run was interrupted in its verification.
        let newest = latest_event(&*source, Subject::root(), true).await?;
        let hash = newest.map_or(Hash::ZERO, |event| event.hash);
        let mut tally = LineTally::default();
        let mut schemas = backup::stream_schemas(&source);
        while let Some(line) = schemas.try_next().await? {
            tally.add_line(&line);
        }
        return verify_copy(&arguments.to, &Chain::at(total, hash), &tally).await;
    }
    let mut target = CopyTarget::begin(&arguments.to).await?;
    let start = check_start(&*source, target.chain()).await?;
    if start > 0 {
        report(format_args!("{start} events are copied already"));
    }
    let mut progress = ProgressDisplay::new("copy", Some(total));
    let mut schemas = backup::stream_schemas(&source);
    let mut tally = LineTally::default();
    while let Some(line) = schemas.try_next().await? {
        tally.add_line(&line);
        target.add(line).await?;
    }
    let options = ReadOptions {
        lower_bound: EventId::new(start).map(Bound::Inclusive),
        ..ReadOptions::recursive()
    };
    let mut events = source.read(Subject::root(), options);
    while let Some(event) = events.try_next().await? {
        target.add(BackupLine::Event(Box::new(event))).await?;
        progress.update(target.chain().events());
    }
    progress.finish();
    let chain = target.finish().await?;
    from.close().await;
    verify_copy(&arguments.to, &chain, &tally).await
}

/// Returns true if a data directory holds a whole store. An unfinished copy has another file.
fn is_finished(target: &StoreLocation) -> bool {
    match target {
        StoreLocation::Directory(directory) => EmbeddedStore::exists_in(directory),
        StoreLocation::Postgres(_) => false,
    }
}

/// Checks that the events in the target are those with which the source begins. Returns their number.
async fn check_start(source: &dyn EventLog, chain: &Chain) -> Result<u64, CliError> {
    let Some(last) = chain.events().checked_sub(1).and_then(EventId::new) else {
        return Ok(0);
    };
    let event = event_with_id(source, last).await?;
    match event {
        Some(event) if event.hash == chain.hash() => Ok(chain.events()),
        _ => Err(CliError::Copy(
            "the target holds events of another store: copy into an empty one".into(),
        )),
    }
}

/// Reads the whole copy back and compares its end and its schemas with those of the source.
async fn verify_copy(
    target: &StoreLocation,
    chain: &Chain,
    schemas: &LineTally,
) -> Result<bool, CliError> {
    let copy = target.open().await?;
    let mut copied = LineTally::default();
    let mut lines = backup::stream_schemas(&copy.port());
    while let Some(line) = lines.try_next().await? {
        copied.add_line(&line);
    }
    drop(lines);
    let verified = verify_with_progress(&*copy.port(), Some(chain.events())).await?;
    copy.close().await;
    if let Some(damage) = verified.damage.first() {
        report(format_args!("the copy is broken: {damage}"));
        return Ok(false);
    }
    if (verified.events, verified.hash) != (chain.events(), chain.hash()) {
        return Err(CliError::Copy(
            "the copy ends with another event than the source".into(),
        ));
    }
    if copied.end_mark() != schemas.end_mark() {
        return Err(CliError::Copy(
            "the copy has other schemas than the source".into(),
        ));
    }
    report(format_args!(
        "copied {} events, the last with the hash {}",
        verified.events, verified.hash
    ));
    Ok(true)
}
