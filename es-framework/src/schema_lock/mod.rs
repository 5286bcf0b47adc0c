//! The schema lock: a committed file with the JSON schema of every event, and the check that no
//! change of a declaration leaves stored events behind.
//!
//! Whether a stored event is still read is not guessed from the schemas. Samples are made of the
//! locked one, read by the code of today and written again: what cannot be read, and what leaves no
//! trace in what is written, is lost. So `alias`, `default`, `deserialize_with` and types with JSON
//! of their own count for what they do.

mod canonical;
mod check;
pub(crate) mod cli;
mod finding;
mod lock;
mod narrowing;
#[cfg(test)]
mod properties;
mod sample;
mod scalar;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use finding::{Finding, Loss};
pub use lock::{Difference, Lock, LockError};

use crate::event::{EventDescriptor, Upcasters, UpcastersError};

/// The name of the file.
///
/// ```
/// use std::path::Path;
///
/// let beside_the_manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join(es_framework::schema_lock::FILE);
/// assert!(beside_the_manifest.ends_with("events.lock.json"));
/// ```
pub const FILE: &str = "events.lock.json";

/// Why a check did not pass.
///
/// ```
/// use std::path::Path;
///
/// use es_framework::schema_lock::{SchemaError, check_packages};
///
/// let error = check_packages(Path::new("events.lock.json"), &["nobody"]).unwrap_err();
/// assert!(matches!(error, SchemaError::NothingDeclared(package) if package == "nobody"));
/// ```
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The lock cannot be used.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The upcasters cannot work together.
    #[error(transparent)]
    Upcasters(#[from] UpcastersError),
    /// Changes would orphan stored events.
    #[error("{}", findings(.0))]
    Orphans(Vec<Finding>),
    /// There is nothing to compare.
    #[error(
        "no event is declared in {0}, or what declares them is not linked: write `use the_crate as _;`, or name other packages"
    )]
    NothingDeclared(String),
    /// A loss is accepted that there is not.
    #[error("nothing of {0} would be lost: leave out --accept-loss {0}, or correct the type")]
    NotLost(String),
    /// A schema takes what its type does not.
    #[error("{}", inexact(.0))]
    Inexact(Vec<Finding>),
    /// Nothing is lost, but the lock does not say what is declared.
    #[error("{}", outdated(.file, .difference))]
    OutOfDate {
        /// The file.
        file: String,
        /// What it does not say.
        difference: Difference,
    },
}

/// Compares declarations with a lock.
///
/// ```
/// use es_framework::{
///     event::{EventDescriptor, Upcasters},
///     prelude::*,
///     schema_lock::{Lock, check},
/// };
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     title: String,
/// }
///
/// let (folder, events) = (tempfile::tempdir()?, [EventDescriptor::of::<BookPurchasedEvent>()]);
/// let file = folder.path().join("events.lock.json");
/// Lock::of(&events).write(&file)?;
/// check(&file, &events, &Upcasters::default())?;
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Stored events would be orphaned, or the lock is not up to date.
pub fn check(
    file: &Path,
    events: &[EventDescriptor],
    upcasters: &Upcasters,
) -> Result<(), SchemaError> {
    let difference = Lock::read(file)?.compare(events, upcasters);
    if !difference.findings.is_empty() {
        return Err(SchemaError::Orphans(difference.findings));
    }
    if !difference.is_empty() {
        let file = file.display().to_string();
        return Err(SchemaError::OutOfDate { file, difference });
    }
    Ok(())
}

/// [`check`] for what the macros registered in these packages, but for events of modules that are
/// called `tests`. [`schema_lock!`](crate::schema_lock!) calls it.
///
/// ```
/// use std::path::Path;
///
/// use es_framework::schema_lock::check_packages;
///
/// /// What a test of an application of two packages calls.
/// fn check_both() -> Result<(), es_framework::schema_lock::SchemaError> {
///     check_packages(Path::new("events.lock.json"), &["library-app", "library-stock"])
/// }
/// ```
///
/// # Errors
/// As for [`check`].
pub fn check_packages(file: &Path, packages: &[&str]) -> Result<(), SchemaError> {
    let (events, upcasters) = lock::declared(packages);
    if events.is_empty() {
        return Err(SchemaError::NothingDeclared(packages.join(" and ")));
    }
    check(file, &events, &Upcasters::new(upcasters)?)
}

/// Panics, which is how a test fails, unless every event that was ever stored stays readable and
/// `events.lock.json` beside Cargo.toml is up to date.
///
/// It is about the events of the package that it stands in. An application that mounts others names
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

fn inexact(findings: &[Finding]) -> String {
    let mut text = "the schema of an event takes values that its type does not, so that it cannot be locked: state the bounds with #[schemars(range(…))] or #[schemars(length(…))], or give values that it takes with #[schemars(example = …)]".to_owned();
    for finding in findings {
        if let Finding::Loss {
            event_type,
            declaration,
            loss,
            ..
        } = finding
        {
            text.push_str(&format!("\n\n{event_type} at {declaration}: {loss}"));
        }
    }
    text
}

fn findings(findings: &[Finding]) -> String {
    let count = findings.len();
    let changes = if count == 1 { "change" } else { "changes" };
    let mut text = format!("{count} {changes} would orphan stored events");
    for finding in findings {
        text.push_str("\n\n");
        text.push_str(&finding.to_string());
    }
    text
}

fn outdated(file: &str, difference: &Difference) -> String {
    let mut text = format!(
        "{file} is out of date, though no stored event is lost: run the subcommand `schema lock`, and commit the file"
    );
    let added = difference.added.iter().map(|one| ("new", *one));
    let changed = difference.changed.iter().map(|one| ("changed", *one));
    let removed = difference.removed.iter().map(|one| ("gone", one.as_str()));
    for (what, event_type) in added.chain(changed).chain(removed) {
        text.push_str(&format!("\n  {what}: {event_type}"));
    }
    text
}
