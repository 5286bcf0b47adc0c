//! The official client for Python against the program `event-store`.

use std::{io::Write as _, path::Path, process::Command};

use crate::{
    server_process::{ServerProcess, TOKEN},
    support::python_environment::{printed, programs_of},
};

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
    run_script("2.2.4", &[]);
}

#[test]
fn the_newest_client_for_python_verifies_hashes_of_version_2() {
    run_script("2.2.4", &["--hash-version=2"]);
}

#[test]
fn the_client_for_python_that_knows_version_1_only_works_unchanged() {
    run_script("1.9.3", &[]);
}

fn run_script(version: &str, arguments: &[&str]) {
    let package = format!("eventsourcingdb=={version}");
    let Some(programs) = programs_of(&format!("eventsourcingdb-{version}"), &[&package]) else {
        return;
    };
    let python = programs.join("python");
    let key = tempfile::NamedTempFile::new().unwrap();
    key.as_file().write_all(KEY.as_bytes()).unwrap();
    let key = key.path().to_str().unwrap();
    let common = ["--dialect=event", "--signing-key-file", key];
    let server = ServerProcess::temporary(&[&common, arguments].concat());
    for script in SCRIPTS {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
        let mut command = Command::new(&python);
        // Python would send requests to the loopback address through a proxy of the environment, and would
        // write compiled files next to the sources.
        command.env("NO_PROXY", "*").arg("-B").arg(script);
        let output = command.args([&server.url, TOKEN, key]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{version}:\n{}", printed(&output));
    }
}
