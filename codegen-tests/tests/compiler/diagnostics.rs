//! Every wrong use of a macro has its own message, and every message has a case in `ui`. A file holds the
//! cases of one topic, because each file costs a run of the compiler. Correct uses are modules of
//! `accepted.rs`: with a program to link, trybuild would build all dependencies again instead of checking
//! them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::requirement::require;

/// Returns whether the compiler finds the source of the standard library, from which it then quotes lines.
fn has_library_source() -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = String::from_utf8(output.unwrap().stdout).unwrap();
    let source = PathBuf::from(sysroot.trim()).join("lib/rustlib/src/rust/library");
    source.exists()
}

fn cases() -> Vec<PathBuf> {
    let topics = fs::read_dir("ui").unwrap();
    let folders = topics.map(|topic| topic.unwrap().path().join("fail"));
    let folders = folders.filter(|folder| folder.is_dir());
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let files = files.map(|file| file.unwrap().path());
    files
        .filter(|file| file.extension().is_some_and(|it| it == "rs"))
        .collect()
}

/// Returns true for a case whose message points into the standard library.
fn names_the_library(case: &Path) -> bool {
    let message = fs::read_to_string(case.with_extension("stderr")).unwrap_or_default();
    message.contains("$RUST/")
}

#[test]
fn the_compiler_says_what_to_write_instead() {
    let (library_cases, mut cases): (Vec<_>, Vec<_>) = cases()
        .into_iter()
        .partition(|case| names_the_library(case));
    let remedy = "run `rustup component remove rust-src`, or leave these messages to CI";
    let requirement = if has_library_source() {
        Err(remedy.to_owned())
    } else {
        Ok(library_cases)
    };
    cases.extend(require("rust-src", requirement).unwrap_or_default());
    cases.sort();
    let test = trybuild::TestCases::new();
    for case in cases {
        test.compile_fail(case);
    }
}
