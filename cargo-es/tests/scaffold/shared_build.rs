//! Builds of generated applications, which share what the workspace and other tests have built.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{cargo::cargo, scratch_folder::checkout};

/// Gives an application the lock file and the profile of the workspace, so that Cargo reuses its build.
pub(crate) fn share_build(folder: &Path) {
    let root = checkout();
    let outside = fs::read_to_string(root.join("codegen-tests/outside/Cargo.toml")).unwrap();
    let profile = &outside[outside.find("[profile.dev]").unwrap()..];
    fs::create_dir(folder.join(".cargo")).unwrap();
    fs::write(folder.join(".cargo/config.toml"), profile).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
}

fn clippy_driver(folder: &Path) -> PathBuf {
    let mut rustc = Command::new("rustc");
    let sysroot = rustc.args(["--print", "sysroot"]).current_dir(folder);
    let sysroot = String::from_utf8(sysroot.output().unwrap().stdout).unwrap();
    Path::new(sysroot.trim()).join("bin/clippy-driver")
}

/// Runs Cargo with clippy in the place of the compiler: clippy compiles, too, so that nothing needs to be
/// compiled twice. The test of the schema lock adds new events to the lock.
pub(crate) fn run_cargo(folder: &Path, arguments: &[&str]) -> Output {
    cargo()
        .args(arguments)
        .args(["--quiet", "--offline"])
        .env("RUSTC_WORKSPACE_WRAPPER", clippy_driver(folder))
        .env("SCHEMA_LOCK", "update")
        .env_remove("RUST_BACKTRACE")
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Runs `cargo es explain` with the environment of [`run_cargo`], so that the application is not compiled
/// again.
pub(crate) fn explain(folder: &Path, name: &str) -> Output {
    let mut explain = Command::new(env!("CARGO_BIN_EXE_cargo-es"));
    for (variable, value) in cargo().get_envs() {
        match value {
            Some(value) => explain.env(variable, value),
            None => explain.env_remove(variable),
        };
    }
    explain
        .args(["es", "explain", name])
        .current_dir(folder)
        .env("CARGO_NET_OFFLINE", "true")
        .env("RUSTC_WORKSPACE_WRAPPER", clippy_driver(folder))
        .output()
        .unwrap()
}

/// Fails unless rustfmt changes nothing in the files of an application.
pub(crate) fn check_format(folder: &Path) {
    let output = Command::new("rustfmt")
        .args(["--check", "--edition", "2024", "src/main.rs"])
        .current_dir(folder)
        .output()
        .unwrap();
    let difference = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{difference}{errors}");
}
