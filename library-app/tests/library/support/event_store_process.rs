//! The program `event-store` in a process of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use super::{Process, TOKEN, cargo::cargo};

/// An event store in a process of its own.
pub(crate) fn start_event_store(folder: &Path, port: u16) -> (Process, String) {
    let mut command = Command::new(event_store_program());
    command.args([
        "run",
        "--api-token",
        TOKEN,
        "--http-enabled=true",
        "--https-enabled=false",
    ]);
    command
        .args(["--http-port", &port.to_string(), "--data-directory"])
        .arg(folder);
    let (process, [url]) = Process::start(&mut command, ["listening on"]);
    (process, url)
}

/// Returns the path of the program `event-store`, which lies beside the library's. Cargo builds only
/// the programs of the package under test, so this builds it. It names the whole workspace and a test of
/// the program, because then Cargo reuses the build of `cargo test --workspace`.
pub(crate) fn event_store_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let library = Path::new(env!("CARGO_BIN_EXE_library-app"));
        let folder = library.parent().unwrap();
        let mut build = cargo();
        build.args(["test", "--quiet", "--workspace", "--no-run"]);
        build.args(["--test", "event_store"]);
        if folder.ends_with("release") {
            build.arg("--release");
        }
        build.arg("--target-dir").arg(folder.parent().unwrap());
        assert!(
            build.status().unwrap().success(),
            "the event store does not build"
        );
        folder.join("event-store")
    })
}
