//! Follows the tutorial literally: its commands write files, its code compiles, its tests pass, and the
//! service answers.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    requirement::require_program,
    running_service::RunningService,
    scratch_folder::{checkout, empty_folder},
    shared_build::{check_format, explain, run_cargo, share_build},
};

/// A block of the page.
struct PageBlock<'a> {
    language: &'a str,
    text: &'a str,
    /// The page above the block.
    before: &'a str,
}

/// Returns the blocks of a page in order.
fn blocks(page: &str) -> Vec<PageBlock<'_>> {
    let mut blocks = Vec::new();
    let mut from = 0;
    while let Some(start) = page[from..].find("```") {
        let start = from + start;
        let text = start + page[start..].find('\n').unwrap() + 1;
        let end = text + page[text..].find("```").unwrap();
        blocks.push(PageBlock {
            language: page[start + 3..text].trim(),
            text: &page[text..end],
            before: &page[..start],
        });
        from = end + 3;
    }
    blocks
}

/// Runs commands of the page, with the program of this build for `cargo es`.
fn run(folder: &Path, commands: &str) -> String {
    let program = format!("{} es ", env!("CARGO_BIN_EXE_cargo-es"));
    let commands = commands.replace("cargo es ", &program);
    let mut shell = Command::new("sh");
    let output = shell.args(["-ec", &commands]).current_dir(folder).output();
    let output = output.unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{commands}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the lines of a block of commands that do not start with any of these.
fn lines_without(text: &str, starts: &[&str]) -> String {
    let is_left_out = |line: &&str| starts.iter().any(|start| line.starts_with(start));
    let lines = text.lines().filter(|line| !is_left_out(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Writes what the page shows of a file: a whole file, its first part, or a function at the end of its
/// `impl`.
fn write_code(application: &Path, block: &PageBlock<'_>) {
    let mut words = block.before.rsplit('`');
    let name = words.find(|word| word.starts_with("src/")).unwrap();
    let path = application.join(name);
    let text = fs::read_to_string(&path).unwrap();
    if text.starts_with(block.text) {
        return;
    }
    if block.text.starts_with("//!") {
        fs::write(path, block.text).unwrap();
        return;
    }
    let end = text.find("\n#[cfg(test)]").unwrap_or(text.len());
    let (code, tests) = text.split_at(end);
    let code = code.trim_end().strip_suffix('}').unwrap();
    fs::write(path, format!("{code}\n{}}}\n{tests}", block.text)).unwrap();
}

/// Follows the page up to the last version of each file.
fn follow(blocks: &[PageBlock<'_>]) -> PathBuf {
    let folder = empty_folder("tutorial");
    std::os::unix::fs::symlink(checkout(), folder.join("es-framework")).unwrap();
    let application = folder.join("library");
    let mut num_files = 0;
    for block in blocks {
        match block.language {
            "sh" if block.text.contains("cargo install") => {
                run(&folder, &lines_without(block.text, &["cargo install"]));
            }
            "sh" if block.text.contains("cargo es") => {
                run(&application, &lines_without(block.text, &["cargo test"]));
            }
            "rust,ignore" => {
                write_code(&application, block);
                num_files += 1;
            }
            "text" => {
                let added = fs::read_to_string(application.join("src/borrow_book.rs")).unwrap();
                assert!(added.contains(block.text.trim()), "{}", block.text);
            }
            _ => {}
        }
    }
    assert_eq!(num_files, 8);
    share_build(&application);
    application
}

fn tutorial() -> String {
    fs::read_to_string(checkout().join("docs/src/tutorial.md")).unwrap()
}

#[test]
fn two_files_of_the_tutorial_are_an_application() {
    let page = tutorial();
    let blocks = blocks(&page);
    let find = |language| blocks.iter().find(|block| block.language == language);
    let (manifest, code) = (find("toml").unwrap(), find("rust,no_run").unwrap());
    let application = empty_folder("by-hand");
    fs::create_dir(application.join("src")).unwrap();
    let framework = checkout().join("es-framework").display().to_string();
    let manifest = manifest
        .text
        .replace("../es-framework/es-framework", &framework);
    // The folder is below that of the workspace, unlike the one of the page.
    let manifest = format!("{manifest}\n[workspace]\n");
    fs::write(application.join("Cargo.toml"), manifest).unwrap();
    fs::write(application.join("src/main.rs"), code.text).unwrap();
    share_build(&application);
    check_format(&application);
    let output = run_cargo(&application, &["test"]);
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_tested = output.status.success() && printed.contains("1 passed");
    assert!(is_tested && errors.is_empty(), "{printed}{errors}");
}

#[test]
fn the_tutorial_leads_where_it_says() {
    let page = tutorial();
    let blocks = blocks(&page);
    let application = follow(&blocks);
    check_format(&application);
    for command in ["test", "build"] {
        let output = run_cargo(&application, &[command]);
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && errors.is_empty(),
            "{printed}{errors}"
        );
    }
    let explained = explain(&application, "BorrowBookCommand");
    let reference = fs::read_to_string(checkout().join("docs/src/reference/cargo-es.md")).unwrap();
    let explained = String::from_utf8(explained.stdout).unwrap();
    assert!(
        reference.contains(&explained) && explained.len() > 99,
        "{explained}"
    );
    if !require_program("curl", "curl") {
        return;
    }
    let service = RunningService::start(&application, "library");
    let is_request = |(_, block): &(usize, &PageBlock<'_>)| block.text.starts_with("curl");
    let requests = blocks.iter().enumerate().filter(is_request);
    let requests: Vec<_> = requests.collect();
    let statuses = ["201 Created", "", "", "204 No Content"];
    assert_eq!(requests.len(), statuses.len());
    let readme = fs::read_to_string(application.join("README.md")).unwrap();
    assert!(readme.contains(requests[0].1.text), "{readme}");
    for ((index, block), status) in requests.into_iter().zip(statuses) {
        let shown = &blocks[index + 1];
        assert_eq!(shown.language, "json", "{}", block.text);
        let commands = block.text.replace("localhost:8080", &service.address);
        let printed = run(&application, &commands);
        let is_as_shown = printed.contains(status) && printed.ends_with(shown.text.trim());
        assert!(is_as_shown, "{commands}: {printed}");
    }
}
