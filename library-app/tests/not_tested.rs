//! Prints the tests of this run that were not run, because a program they need is missing. It is
//! the last test binary of the workspace: cargo runs packages and binaries in the order of their
//! names.

#![allow(
    clippy::print_stdout,
    reason = "this list is all that the program is for"
)]

use std::fs;

/// The folder where `es-framework/tests/support/requirement.rs` records them.
const RECORDS: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/not-tested");

fn main() {
    let records = fs::read_dir(RECORDS).into_iter().flatten().flatten();
    let sentences = records.filter_map(|record| fs::read_to_string(record.path()).ok());
    let mut sentences: Vec<_> = sentences.collect();
    sentences.sort_unstable();
    if sentences.is_empty() {
        return;
    }
    println!("\n{} tests were not run:\n", sentences.len());
    print!("{}", sentences.concat());
    // The next run records its own.
    let _ = fs::remove_dir_all(RECORDS);
}
