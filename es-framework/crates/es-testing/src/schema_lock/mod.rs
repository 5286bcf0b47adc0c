//! The schema lock: a committed file with the JSON schema of every event, and a check that every
//! stored event stays readable.
//!
//! The check does not compare schemas. It generates samples of the locked schema, deserializes them
//! with today's code and serializes them again. Data is lost if a sample cannot be deserialized or
//! if a value leaves no trace in the result. Therefore the check respects `alias`, `default`,
//! `deserialize_with` and types with their own JSON.

mod breaking_change;
mod canonical;
mod check;
mod lock_file;
mod narrowing;
#[cfg(test)]
mod properties;
mod sample_generator;
mod samples;
mod scalar_samples;

use std::{collections::BTreeSet, env, ffi::OsString, path::Path};

pub use breaking_change::{BreakingChange, DataLoss};
pub use lock_file::{LockDifference, LockFileError, SchemaLock};

use es_event::{EventDescriptor, Upcasters, UpcastersError};

/// The name of the lock file.
///
/// ```
/// use std::path::Path;
///
/// let beside_the_manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(es_framework::schema_lock::FILE);
/// assert!(beside_the_manifest.ends_with("events.lock.json"));
/// ```
pub const FILE: &str = "events.lock.json";
/// The environment variable that makes the test write the lock file.
const UPDATE: &str = "SCHEMA_LOCK";
/// The environment variable with the event types whose stored data may be lost, separated by commas.
const ACCEPT_LOSS: &str = "SCHEMA_LOCK_ACCEPT_LOSS";

/// The error for a schema check that failed.
///
/// ```
/// use std::path::Path;
///
/// use es_framework::schema_lock::{SchemaCheckError, check_packages};
///
/// let error = check_packages(Path::new("events.lock.json"), &["nobody"]).unwrap_err();
/// assert!(matches!(error, SchemaCheckError::NothingDeclared(package) if package == "nobody"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum SchemaCheckError {
    /// The lock file cannot be used.
    #[error(transparent)]
    Lock(#[from] LockFileError),
    /// The upcasters contradict each other.
    #[error(transparent)]
    Upcasters(#[from] UpcastersError),
    /// Changes would make stored events unreadable or lose their data.
    #[error("{}", breaking_changes(.0))]
    Orphans(Vec<BreakingChange>),
    /// The packages declare no event.
    #[error(
        "no event is declared in {0}, or what declares them is not linked: write `use the_crate as _;`, or name other packages"
    )]
    NothingDeclared(String),
    /// The environment variable `SCHEMA_LOCK` has an unknown value.
    #[error("{UPDATE}={0} is unknown: write {UPDATE}=update, or leave the variable out")]
    UnknownUpdate(String),
    /// The caller accepts a loss that does not occur.
    #[error("nothing of {0} would be lost: leave it out of {ACCEPT_LOSS}, or correct the type")]
    NotLost(String),
    /// An event's declaration does not read what it writes.
    #[error("{}", not_read_back(.0))]
    NotReadBack(Vec<BreakingChange>),
    /// A schema allows values that its type does not accept.
    #[error("{}", inexact(.0))]
    Inexact(Vec<BreakingChange>),
    /// No data is lost, but the lock differs from the declarations.
    #[error("{}", outdated(.file, .difference))]
    OutOfDate {
        /// The path of the lock file.
        file: String,
        /// The difference between lock and declarations.
        difference: LockDifference,
    },
}

/// Compares declared events with a lock file.
///
/// ```
/// use es_framework::{
///     event::{EventDescriptor, Upcasters},
///     prelude::*,
///     schema_lock::{SchemaLock, check},
/// };
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let (folder, events) = (tempfile::tempdir()?, [EventDescriptor::of::<BookPurchasedEvent>()]);
/// let file = folder.path().join("events.lock.json");
/// SchemaLock::from_events(&events).write(&file)?;
/// check(&file, &events, &Upcasters::default())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if a change would make stored events unreadable, or if the lock is out of date.
pub fn check(
    file: &Path,
    events: &[EventDescriptor],
    upcasters: &Upcasters,
) -> Result<(), SchemaCheckError> {
    check_read_back(events, upcasters)?;
    let difference = SchemaLock::read(file)?.compare(events, upcasters);
    if !difference.breaking_changes.is_empty() {
        return Err(SchemaCheckError::Orphans(difference.breaking_changes));
    }
    if !difference.is_empty() {
        let file = file.display().to_string();
        return Err(SchemaCheckError::OutOfDate { file, difference });
    }
    Ok(())
}

/// Writes the lock file and returns the number of locked events. `accepted` lists the event types
/// whose stored data may be lost.
///
/// ```
/// use es_framework::{
///     event::{EventDescriptor, Upcasters},
///     prelude::*,
///     schema_lock::update,
/// };
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let (folder, events) = (tempfile::tempdir()?, [EventDescriptor::of::<BookPurchasedEvent>()]);
/// let file = folder.path().join("events.lock.json");
/// assert_eq!(update(&file, &events, &Upcasters::default(), &[])?, 1);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if stored data of another event type would be lost, if an accepted loss does not occur, or
/// if the file cannot be read or written.
pub fn update(
    file: &Path,
    events: &[EventDescriptor],
    upcasters: &Upcasters,
    accepted: &[String],
) -> Result<usize, SchemaCheckError> {
    check_read_back(events, upcasters)?;
    let lock = SchemaLock::from_events(events);
    let earlier = match SchemaLock::read(file) {
        // Without a file, no stored event has to stay readable yet.
        Err(LockFileError::Missing(_)) => lock.clone(),
        earlier => earlier?,
    };
    let mut changes = earlier.compare(events, upcasters).breaking_changes;
    let is_lost = |accepted: &&String| changes.iter().any(|one| one.event_type() == *accepted);
    if let Some(other) = accepted.iter().find(|one| !is_lost(one)) {
        return Err(SchemaCheckError::NotLost(other.clone()));
    }
    changes.retain(|change| !accepted.iter().any(|one| one == change.event_type()));
    if !changes.is_empty() {
        return Err(SchemaCheckError::Orphans(changes));
    }
    // A schema that allows more than its type accepts would appear as a loss in later checks.
    let inexact = lock.compare(events, upcasters).breaking_changes;
    if !inexact.is_empty() {
        return Err(SchemaCheckError::Inexact(inexact));
    }
    lock.write(file)?;
    Ok(lock.len())
}

/// Checks the events and upcasters that the macros registered in these packages, except events in
/// modules named `tests`. [`schema_lock!`](crate::schema_lock!) calls this function. With `SCHEMA_LOCK=update` in the
/// environment it calls [`update`] in place of [`check`]; `SCHEMA_LOCK_ACCEPT_LOSS` lists the accepted event types.
///
/// ```
/// use std::path::Path;
///
/// use es_framework::schema_lock::check_packages;
///
/// /// What a test of an application of two packages calls.
/// fn check_both() -> Result<(), es_framework::schema_lock::SchemaCheckError> {
///     check_packages(Path::new("events.lock.json"), &["library-app", "library-stock"])
/// }
/// ```
///
/// # Errors
/// Fails for the same reasons as [`check`] or [`update`], or if `SCHEMA_LOCK` has another value.
pub fn check_packages(file: &Path, packages: &[&str]) -> Result<(), SchemaCheckError> {
    let (events, upcasters) = lock_file::declared(packages);
    if events.is_empty() {
        return Err(SchemaCheckError::NothingDeclared(packages.join(" and ")));
    }
    let upcasters = Upcasters::new(upcasters)?;
    match env::var_os(UPDATE) {
        None => check(file, &events, &upcasters),
        Some(value) if value == "update" => {
            let accepted = split_list(&env::var_os(ACCEPT_LOSS).unwrap_or_default());
            update(file, &events, &upcasters, &accepted).map(drop)
        }
        Some(other) => {
            let other = other.to_string_lossy().into_owned();
            Err(SchemaCheckError::UnknownUpdate(other))
        }
    }
}

/// Returns the items of a list whose separator is a comma.
fn split_list(list: &OsString) -> Vec<String> {
    let list = list.to_string_lossy();
    let items = list.split(',').map(str::trim);
    let items = items.filter(|item| !item.is_empty());
    items.map(str::to_owned).collect()
}

/// Panics, and so fails a test, unless every stored event stays readable and `events.lock.json`
/// beside Cargo.toml is up to date. `SCHEMA_LOCK=update cargo test` writes the file.
///
/// The macro checks the events of its own package. An application that mounts other packages names
/// all of them: `schema_lock!("library-app", "library-stock")`.
///
/// ```no_run
/// #[test]
/// fn stored_events_stay_readable() {
///     es_framework::schema_lock!();
/// }
/// # es_framework::schema_lock!(); // a documentation test leaves out what is a test
/// ```
#[macro_export]
macro_rules! schema_lock {
    () => {
        $crate::schema_lock!(::core::env!("CARGO_PKG_NAME"))
    };
    ($($package:expr),+ $(,)?) => {
        if let ::core::result::Result::Err(error) = $crate::schema_lock::check_packages(
            ::std::path::Path::new(::core::concat!(
                ::core::env!("CARGO_MANIFEST_DIR"),
                "/events.lock.json"
            )),
            &[$($package),+],
        ) {
            ::core::panic!("{error}");
        }
    };
}

/// Checks that each event reads what it writes. An event that an upcaster replaces is not written any more.
fn check_read_back(
    events: &[EventDescriptor],
    upcasters: &Upcasters,
) -> Result<(), SchemaCheckError> {
    let events = events.iter();
    let written = events.filter(|event| upcasters.get(event.event_type).is_none());
    let unreadable: Vec<_> = written.flat_map(check::find_unreadable).collect();
    if unreadable.is_empty() {
        return Ok(());
    }
    Err(SchemaCheckError::NotReadBack(unreadable))
}

fn not_read_back(breaking_changes: &[BreakingChange]) -> String {
    let text = "an event cannot read what it writes, so that a command with it would be refused: write `#[serde(default)]` above a field that is not always written, and give `serialize_with` a `deserialize_with` that reads its form";
    listed(text, breaking_changes)
}

fn inexact(breaking_changes: &[BreakingChange]) -> String {
    let text = "the schema of an event takes values that its type does not, so that it cannot be locked: state the bounds with #[schemars(range(…))] or #[schemars(length(…))], or give values that it takes with #[schemars(example = …)]";
    listed(text, breaking_changes)
}

/// Adds a line for each event and member.
fn listed(text: &str, breaking_changes: &[BreakingChange]) -> String {
    let mut text = text.to_owned();
    for breaking_change in breaking_changes {
        if let BreakingChange::Loss {
            event_type,
            declaration,
            loss,
            ..
        } = breaking_change
        {
            text.push_str(&format!("\n\n{event_type} at {declaration}: {loss}"));
        }
    }
    text
}

fn breaking_changes(breaking_changes: &[BreakingChange]) -> String {
    let count = breaking_changes.len();
    let changes = if count == 1 { "change" } else { "changes" };
    let mut text = format!("{count} {changes} would orphan stored events");
    for breaking_change in breaking_changes {
        text.push_str("\n\n");
        text.push_str(&breaking_change.to_string());
    }
    let types = breaking_changes.iter().map(BreakingChange::event_type);
    let types: Vec<_> = types.collect::<BTreeSet<_>>().into_iter().collect();
    let types = types.join(",");
    text.push_str(&format!(
        "\n\nIf none of these events was ever stored, as before the first release, nothing is lost: write the lock again with `{UPDATE}=update {ACCEPT_LOSS}={types} cargo test`"
    ));
    text
}

fn outdated(file: &str, difference: &LockDifference) -> String {
    let mut text = format!(
        "{file} is out of date, though no stored event is lost: run this test with {UPDATE}=update, and commit the file"
    );
    let added = difference.added.iter().map(|one| ("new", *one));
    let changed = difference.changed.iter().map(|one| ("changed", *one));
    let removed = difference.removed.iter().map(|one| ("gone", one.as_str()));
    for (what, event_type) in added.chain(changed).chain(removed) {
        text.push_str(&format!("\n  {what}: {event_type}"));
    }
    text
}
