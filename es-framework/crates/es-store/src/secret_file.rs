//! Files with secrets. Only their owner can access them, and readers never see half of a file.

use std::{
    fs,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use uuid::Uuid;

/// Generates a secret. Two random UUIDs have 244 random bits.
#[doc(hidden)]
pub fn generate_secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Fails if anyone except the owner can read or write a file.
#[doc(hidden)]
pub fn check_owner_only(file: &Path) -> io::Result<()> {
    let mode = fs::metadata(file)?.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "others than its owner may use it (its mode is {mode:o}): run `chmod 600 {}`",
        file.display()
    )))
}

/// Creates an empty file that only its owner can use, unless the file exists.
#[doc(hidden)]
pub fn create_if_missing(file: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    let created = options.write(true).create_new(true).mode(0o600).open(file);
    match created {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Takes the access of everyone except the owner away from a file. A missing file is left out.
#[doc(hidden)]
pub fn restrict_to_owner(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(found) if found.mode() & 0o077 == 0 => Ok(()),
        Ok(_) => fs::set_permissions(file, fs::Permissions::from_mode(0o600)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates the file of a SQLite database that only its owner can use. Takes the access of others away from
/// an existing file and from the companions beside it. SQLite gives new companions the mode of the file.
#[doc(hidden)]
pub fn secure_database(file: &Path) -> io::Result<()> {
    create_if_missing(file)?;
    for suffix in ["", "-wal", "-shm", "-journal"] {
        let mut companion = file.as_os_str().to_owned();
        companion.push(suffix);
        restrict_to_owner(Path::new(&companion))?;
    }
    Ok(())
}

/// Replaces a file: writes a draft next to it and renames the draft. Readers never see half of the file,
/// even if the program ends in between.
#[doc(hidden)]
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let draft = with_suffix(file, "draft");
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

/// Returns the path with a suffix added to the file name.
#[doc(hidden)]
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}
