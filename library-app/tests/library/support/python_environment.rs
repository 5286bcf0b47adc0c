//! Programs in Python, each set of packages in an environment of its own that is kept for the next
//! run. Where Python or the package index is out of reach the tests say so and pass, but not in CI.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The folder with the programs of these packages; none if they cannot be had here.
pub(crate) fn programs_of(name: &str, packages: &[&str]) -> Option<PathBuf> {
    match environment(name, packages) {
        Ok(programs) => Some(programs),
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => {
            // Not by a macro: what those print is shown of failed tests only.
            let text = format!("\n*** NOT TESTED: {name}: {reason}\n\n");
            let _ = std::io::stderr().write_all(text.as_bytes());
            None
        }
    }
}

fn environment(name: &str, packages: &[&str]) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("python-{name}"));
    let programs = folder.join("bin");
    let complete = folder.join("complete");
    let wanted = packages.join("\n");
    if std::fs::read_to_string(&complete).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    done(&mut venv, "a virtual environment of Python")?;
    let mut install = Command::new(programs.join("python"));
    install
        .args(["-m", "pip", "install", "--quiet"])
        .args(packages);
    done(&mut install, name)?;
    std::fs::write(complete, wanted).map_err(|error| error.to_string())?;
    Ok(programs)
}

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    let output = command.output();
    let output = output.map_err(|error| format!("{what} cannot be had: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{what} cannot be had:\n{}", told(&output))),
    }
}

/// What a program said.
pub(crate) fn told(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
