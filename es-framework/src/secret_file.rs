//! Files that hold secrets: only their owner uses them, and nobody reads half of one.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use uuid::Uuid;

/// A secret that nobody guesses: two random UUIDs have 244 random bits.
pub(crate) fn random() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Says so when others than its owner may read or write a file.
pub(crate) fn check_owner_only(file: &Path) -> io::Result<()> {
    let mode = fs::metadata(file)?.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "others than its owner may use it (its mode is {mode:o}): run `chmod 600 {}`",
        file.display()
    )))
}

/// Written beside it and renamed when it is whole: a program that reads it never finds half a file,
/// and one that is cut off leaves none behind.
pub(crate) fn replace(file: &Path, text: &str) -> io::Result<()> {
    let draft = beside(file, "draft");
    let _ = fs::remove_file(&draft);
    let mut options = fs::OpenOptions::new();
    let mut opened = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()?;
    fs::rename(&draft, file)
}

/// The file of the same name with a suffix.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}
