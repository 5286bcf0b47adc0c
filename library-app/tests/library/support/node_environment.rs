//! Packages of npm, each set in a folder that is kept for the next run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
};

use crate::support::{
    python_environment::printed,
    requirement::{require, require_program},
};

/// Held while packages are installed, because several tests need the same ones.
static INSTALLATION: Mutex<()> = Mutex::new(());

/// The files that say which packages to install.
const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

/// Returns a folder in which the locked packages of `source` are installed, or none where they cannot be
/// installed. Programs in and below this folder find them.
#[track_caller]
pub(crate) fn folder_with_packages(name: &str, source: &Path) -> Option<PathBuf> {
    if !require_program("node", "nodejs") || !require_program("npm", "npm") {
        return None;
    }
    require(name, environment(name, source))
}

fn environment(name: &str, source: &Path) -> Result<PathBuf, String> {
    let _guard = INSTALLATION.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("node-{name}"));
    let complete = folder.join("complete");
    let wanted = FILES.map(|file| fs::read_to_string(source.join(file)).unwrap());
    let wanted = wanted.concat();
    if fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for file in FILES {
        fs::copy(source.join(file), folder.join(file)).map_err(|error| error.to_string())?;
    }
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    let output = npm.current_dir(&folder).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        let text = printed(&output);
        let text: Vec<_> = text.split_whitespace().collect();
        return Err(format!(
            "let npm reach a package registry: {}",
            text.join(" ")
        ));
    }
    fs::write(complete, wanted).map_err(|error| error.to_string())?;
    Ok(folder)
}
