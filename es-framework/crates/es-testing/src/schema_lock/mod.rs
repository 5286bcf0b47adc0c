//! The schema lock: a committed file with the JSON schema of every event, and a check that every
//! stored event stays readable.
//!
//! The check compares JSON schemas. A change that is plainly compatible passes: a member that may be absent, a wider
//! number, one more value of an enum. Any other change needs a new version with an upcaster, or somebody who accepts it.

mod breaking_change;
mod canonical;
mod compatibility;
mod lock_file;

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
/// The environment variable with the event types whose changes are accepted, separated by commas.
const ACCEPT: &str = "SCHEMA_LOCK_ACCEPT";

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
    /// Changes can make stored events unreadable or lose their data.
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
    /// The caller accepts a change that needs no acceptance.
    #[error("no change of {0} has to be accepted: leave it out of {ACCEPT}, or correct the type")]
    NeedsNoAcceptance(String),
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
/// whose changes pass although they are not plainly compatible.
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
/// Fails if a change of another event type is not plainly compatible, if an accepted one is, or if the file cannot be
/// read or written.
pub fn update(
    file: &Path,
    events: &[EventDescriptor],
    upcasters: &Upcasters,
    accepted: &[String],
) -> Result<usize, SchemaCheckError> {
    let lock = SchemaLock::from_events(events);
    let earlier = match SchemaLock::read(file) {
        // Without a file, no stored event has to stay readable yet.
        Err(LockFileError::Missing(_)) => lock.clone(),
        earlier => earlier?,
    };
    let mut changes = earlier.compare(events, upcasters).breaking_changes;
    let is_lost = |accepted: &&String| changes.iter().any(|one| one.event_type() == *accepted);
    if let Some(other) = accepted.iter().find(|one| !is_lost(one)) {
        return Err(SchemaCheckError::NeedsNoAcceptance(other.clone()));
    }
    changes.retain(|change| !accepted.iter().any(|one| one == change.event_type()));
    if !changes.is_empty() {
        return Err(SchemaCheckError::Orphans(changes));
    }
    lock.write(file)?;
    Ok(lock.len())
}

/// Checks the events and upcasters that the macros registered in these packages, except events in
/// modules named `tests`. [`schema_lock!`](crate::schema_lock!) calls this function. With `SCHEMA_LOCK=update` in the
/// environment it calls [`update`] in place of [`check`]; `SCHEMA_LOCK_ACCEPT` lists the accepted event types.
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
            let accepted = split_list(&env::var_os(ACCEPT).unwrap_or_default());
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
    let filled = items.filter(|item| !item.is_empty());
    filled.map(str::to_owned).collect()
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

fn breaking_changes(breaking_changes: &[BreakingChange]) -> String {
    let count = breaking_changes.len();
    let changes = if count == 1 { "change" } else { "changes" };
    let mut text = format!(
        "{count} {changes} can orphan stored events. If today's code reads them all the same, as with `alias` or `deserialize_with`, accept the event types with {UPDATE}=update {ACCEPT}=<type>,<type>"
    );
    for breaking_change in breaking_changes {
        text.push_str("\n\n");
        text.push_str(&breaking_change.to_string());
    }
    let changed = breaking_changes.iter().map(BreakingChange::event_type);
    let sorted: BTreeSet<_> = changed.collect();
    let types = Vec::from_iter(sorted).join(",");
    text.push_str(&format!(
        "\n\nIf none of these events was ever stored, as before the first release, nothing is lost: write the lock again with `{UPDATE}=update {ACCEPT}={types} cargo test`"
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
