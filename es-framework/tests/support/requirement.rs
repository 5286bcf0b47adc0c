//! A requirement of a test besides Rust: a program, a right, the network. Tests and benchmarks of
//! all packages include this file by its path.
//!
//! A test whose requirement is not met prints `NOT TESTED` and passes. With `CI` set it fails. Each
//! unmet requirement is recorded in the target folder, and the last test binary of the workspace,
//! `not_tested`, prints the records.

use std::{
    fs,
    io::Write as _,
    panic::Location,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The folder of the records. The binary `not_tested` names it, too.
const RECORDS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/not-tested");

/// Returns whether a program can be started. `package` is the Debian package that brings it.
#[track_caller]
pub(crate) fn require_program(program: &str, package: &str) -> bool {
    let mut version = Command::new(program);
    version.arg("--version").stdin(Stdio::null());
    let is_installed = version.output().is_ok();
    require(
        package,
        is_installed.then_some(()).ok_or_else(|| install(package)),
    )
    .is_some()
}

/// The sentence that names the Debian package to install.
pub(crate) fn install(package: &str) -> String {
    format!("install the Debian package {package}")
}

/// Returns the value of a requirement that is met. Otherwise reports that the current test was not
/// run, with the remedy.
///
/// # Panics
/// Panics if the requirement is not met and `CI` is set.
#[track_caller]
pub(crate) fn require<T>(name: &str, requirement: Result<T, String>) -> Option<T> {
    let test = current_test();
    let record = record_of(&test, name);
    match requirement {
        Ok(value) => {
            let _ = fs::remove_file(record);
            Some(value)
        }
        Err(remedy) => {
            let sentence = format!("NOT TESTED: {test}: {remedy}");
            let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
            assert!(!is_ci, "{sentence}");
            report(&record, &sentence);
            None
        }
    }
}

fn report(record: &Path, sentence: &str) {
    // A macro such as `eprintln!` would print nothing, because the test passes.
    let _ = writeln!(std::io::stderr(), "\n{sentence}");
    fs::create_dir_all(RECORDS).unwrap();
    fs::write(record, format!("{sentence}\n")).unwrap();
}

/// The name of the test that runs in this thread, with its package. In a benchmark and with
/// `--test-threads=1` the thread has no such name, and the position in the source stands for it.
#[track_caller]
fn current_test() -> String {
    let thread = std::thread::current();
    let name = match thread.name() {
        None | Some("main") => Location::caller().to_string(),
        Some(name) => name.to_owned(),
    };
    format!("{} {name}", env!("CARGO_PKG_NAME"))
}

fn record_of(test: &str, requirement: &str) -> PathBuf {
    let name = format!("{test} {requirement}");
    Path::new(RECORDS).join(name.replace(|character: char| !character.is_alphanumeric(), "-"))
}
