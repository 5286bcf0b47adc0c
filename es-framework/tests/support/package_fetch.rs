//! Fetches the dependencies of a package outside the workspace. Some are no dependencies of the workspace.

use std::path::Path;

use super::{cargo::cargo, python_environment::printed};

/// Fetches what the lock file of the package names. The error is the remedy.
pub(crate) fn fetch_dependencies(package: &Path) -> Result<(), String> {
    let mut fetch = cargo();
    fetch.args(["fetch", "--quiet", "--locked", "--target", "host-tuple"]);
    let output = fetch.current_dir(package).output().unwrap();
    if output.status.success() {
        return Ok(());
    }
    let text = printed(&output);
    let line: Vec<_> = text.split_whitespace().collect();
    Err(format!("let cargo reach crates.io: {}", line.join(" ")))
}
