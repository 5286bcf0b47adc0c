//! An application needs no dependency but the framework, which it may rename.

use std::{fs, path::Path, process::Command};

#[test]
fn an_application_outside_the_workspace_registers_what_it_declares() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let outside = root.join("codegen-tests/outside");
    // The same versions as the workspace, which are there without a network.
    fs::copy(root.join("Cargo.lock"), outside.join("Cargo.lock")).unwrap();

    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .env("CARGO_TARGET_DIR", target_directory())
        .current_dir(&outside)
        .output()
        .unwrap();

    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "/books/return src/give_back.rs:8\n\
         /books/{id}/borrow src/borrow.rs:8\n\
         org.outside.shop.BookBorrowedEvent src/borrow.rs:18\n\
         org.outside.shop.BookReturnedEvent src/give_back.rs:16\n"
    );
}

/// The workspace's own, so that what both depend on is built once.
fn target_directory() -> &'static Path {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch)
}
