//! Programs in Python, each set of packages in a virtual environment that is kept for the next run.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{Mutex, PoisonError},
};

use super::requirement::{install, require, require_program};

/// Held while packages are installed, because several tests need the same ones.
static INSTALLATION: Mutex<()> = Mutex::new(());

/// Returns the folder with the programs of these packages, or none where they cannot be installed.
#[track_caller]
pub(crate) fn programs_of(name: &str, packages: &[&str]) -> Option<PathBuf> {
    if !require_program("python3", "python3-venv") {
        return None;
    }
    require(name, environment(name, packages))
}

fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let _guard = INSTALLATION.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("python-{name}"));
    let programs = folder.join("bin");
    let complete = folder.join("complete");
    let wanted = packages.join("\n");
    let is_complete = fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted);
    let is_runnable = run(Command::new(programs.join("python")).arg("--version")).is_ok();
    if is_complete && is_runnable {
        return Ok(programs);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    run(&mut venv).map_err(|error| format!("{}: {error}", install("python3-venv")))?;
    let mut pip = Command::new(programs.join("python"));
    pip.args(["-m", "pip", "install", "--quiet", "--no-compile"])
        .args(packages);
    run(&mut pip).map_err(|error| format!("let pip reach a package index: {error}"))?;
    fs::write(complete, wanted).map_err(|error| error.to_string())?;
    Ok(programs)
}

/// Runs a command; the error is what it printed, in one line.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let text = printed(&output);
    Err(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Everything that a program printed.
pub(crate) fn printed(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
