//! Cargo, started by a test.

use std::process::Command;

/// The beginnings of the names of the variables about the package under test.
const OF_PACKAGE: [&str; 5] = [
    "CARGO_PKG",
    "CARGO_MANIFEST",
    "CARGO_CRATE",
    "CARGO_BIN",
    "CARGO_PRIMARY",
];

/// Returns Cargo without the variables about the package under test. Some build scripts depend on them
/// and would build half of all dependencies again.
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if OF_PACKAGE.iter().any(|start| text.starts_with(start)) {
            cargo.env_remove(name);
        }
    }
    cargo
}
