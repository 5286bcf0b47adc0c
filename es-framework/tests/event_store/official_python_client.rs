//! The database's own client for Python against the `event-store` binary.
//!
//! Where Python or the package index is out of reach the tests say so and pass, but not in CI.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::server_process::{ServerProcess, TOKEN};

/// The first test vector of RFC 8032.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
-----END PRIVATE KEY-----
";

const SCRIPTS: [&str; 2] = [
    "tests/event_store/official_python_client.py",
    "tests/event_store/official_python_catalogue.py",
];

#[test]
fn the_newest_client_for_python_works_unchanged() {
    run_script("2.2.4");
}

#[test]
fn the_client_for_python_that_knows_version_1_only_works_unchanged() {
    run_script("1.9.3");
}

fn run_script(version: &str) {
    let python = match environment(version) {
        Ok(python) => python,
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => return skip(version, &reason),
    };
    let key = tempfile::NamedTempFile::new().unwrap();
    key.as_file().write_all(KEY.as_bytes()).unwrap();
    let key = key.path().to_str().unwrap();
    let server = ServerProcess::temporary(&["--dialect=event", "--signing-key-file", key]);
    for script in SCRIPTS {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
        let mut command = Command::new(&python);
        // A proxy of the environment would be asked for the loopback address, and what Python
        // compiles would lie among the sources.
        command.env("NO_PROXY", "*").arg("-B").arg(script);
        let output = command.args([&server.url, TOKEN, key]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{version}:\n{}", told(&output));
    }
}

/// A Python of its own with this version of the client, kept for the next run.
fn environment(version: &str) -> Result<PathBuf, String> {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("eventsourcingdb-python-{version}"));
    let python = folder.join("bin/python");
    let complete = folder.join("complete");
    if complete.exists() && python.exists() {
        return Ok(python);
    }
    let mut venv = Command::new("python3");
    venv.args(["-m", "venv", "--clear"]).arg(&folder);
    done(&mut venv, "a virtual environment of Python")?;
    let package = format!("eventsourcingdb=={version}");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", &package]);
    done(&mut install, &package)?;
    std::fs::write(complete, "").map_err(|error| error.to_string())?;
    Ok(python)
}

fn done(command: &mut Command, what: &str) -> Result<(), String> {
    let output = command.output();
    let output = output.map_err(|error| format!("{what} cannot be had: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{what} cannot be had:\n{}", told(&output)))
}

fn told(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn skip(version: &str, reason: &str) {
    // Not by a macro: what those print is shown of failed tests only.
    let text = format!("\n*** NOT TESTED: Python client {version}: {reason}\n\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}
