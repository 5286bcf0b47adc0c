//! A folder in which a test runs `cargo es`.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// The checkout of the framework.
pub(crate) fn checkout() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap().to_owned()
}

/// Makes an empty folder. Its name never changes, so that Cargo keeps one build of what stands in it.
pub(crate) fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("cargo-es")
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs the program as Cargo does for `cargo es`. Blanks separate the arguments.
pub(crate) fn run_es(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-es"))
        .arg("es")
        .args(arguments.split_whitespace())
        .current_dir(folder)
        .output()
        .unwrap()
}

/// Runs the program successfully and returns what it printed.
pub(crate) fn es(folder: &Path, arguments: &str) -> String {
    let output = run_es(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && errors.is_empty(),
        "{arguments}: {errors}"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Writes a new application that depends on this checkout, and returns its folder. `content` are the arguments that say
/// what it does.
pub(crate) fn new_application(folder: &Path, name: &str, content: &str) -> PathBuf {
    let checkout = checkout();
    let path = checkout.display();
    es(
        folder,
        &format!("new {name} {content} --framework-path {path}"),
    );
    folder.join(name)
}

/// All files below a folder, with their texts.
pub(crate) fn files_below(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            let text = fs::read_to_string(&path).unwrap();
            files.insert(path, text);
        }
    }
    files
}
