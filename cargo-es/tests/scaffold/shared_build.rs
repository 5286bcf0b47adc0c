//! Builds of generated applications, which share what the workspace and other tests have built.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::{
    cargo::cargo,
    scratch_folder::{checkout, target_directory},
};

/// Gives an application the lock file and the profile of the workspace, so that Cargo reuses its build.
pub(crate) fn share_build(folder: &Path) {
    let root = checkout();
    let outside = fs::read_to_string(root.join("codegen-tests/outside/Cargo.toml")).unwrap();
    let profile = &outside[outside.find("[profile.dev]").unwrap()..];
    fs::create_dir(folder.join(".cargo")).unwrap();
    fs::write(folder.join(".cargo/config.toml"), profile).unwrap();
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
}

/// Runs Cargo with clippy in the place of the compiler: clippy compiles, too, so that nothing needs to be
/// compiled twice.
pub(crate) fn run_cargo(folder: &Path, arguments: &[&str]) -> Output {
    let mut rustc = Command::new("rustc");
    let sysroot = rustc.args(["--print", "sysroot"]).current_dir(folder);
    let sysroot = String::from_utf8(sysroot.output().unwrap().stdout).unwrap();
    let clippy = Path::new(sysroot.trim()).join("bin/clippy-driver");
    cargo()
        .args(arguments)
        .args(["--quiet", "--offline"])
        .env("CARGO_TARGET_DIR", target_directory())
        .env("RUSTC_WORKSPACE_WRAPPER", clippy)
        .env_remove("RUST_BACKTRACE")
        .current_dir(folder)
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
