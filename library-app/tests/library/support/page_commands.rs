//! The blocks of code on a page of the documentation, and their commands.

use std::{path::Path, process::Command};

use super::Library;

/// Returns the text of the blocks in this language, in order.
pub(crate) fn code_blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    let block = |rest: &'a str| rest.split("```").next().unwrap();
    page.split(open.as_str()).skip(1).map(block).collect()
}

/// Runs commands of a page in a folder, against this library instead of the default ports.
pub(crate) fn run_commands(library: &Library, folder: &Path, commands: &str) -> String {
    let commands = commands
        .replace("http://localhost:8080", &library.url)
        .replace("http://localhost:3000", &library.store_url);
    let output = Command::new("sh")
        .args(["-ec", &commands])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{commands}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
