//! Files with secrets. Only their owner can access them, and readers never see half of a file. No file is written
//! through a link that somebody else has put in its place.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use rustix::{fs::OFlags, io::Errno};
use uuid::Uuid;

/// Generates a secret. Two random UUIDs have 244 random bits.
pub fn generate_secret() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

/// Fails if anyone except the owner can read or write a file.
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

/// Creates a file that only its owner can use. Fails if anything has its name.
pub fn create_new(file: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(file)
}

/// Creates an empty file that only its owner can use, unless the file exists.
pub fn create_if_missing(file: &Path) -> io::Result<()> {
    match create_new(file) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created.map(drop),
    }
}

/// Opens a file for writing, and creates it if it is missing. Refuses a link.
pub fn open_or_create(file: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    options.open(file).map_err(|error| {
        if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) {
            return io::Error::other(format!("{} is a link: remove it", file.display()));
        }
        error
    })
}

/// Locks a file, which is created if it is missing. Returns `None` if another process has locked it. Whoever holds the
/// lock may remove the file.
pub fn try_lock(file: &Path) -> io::Result<Option<File>> {
    let lock = open_or_create(file)?;
    match lock.try_lock() {
        Ok(()) => Ok(leads_to(file, &lock).then_some(lock)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Returns true if the path leads to the open file, which may have been removed or replaced.
#[must_use]
pub fn leads_to(path: &Path, open: &File) -> bool {
    let open = open.metadata().map(|open| (open.dev(), open.ino()));
    open.is_ok_and(|open| find_identity(path) == Some(open))
}

/// Returns the device and the number of a file, which no other existing file has.
#[must_use]
pub fn find_identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Takes the access of everyone except the owner away from a file. A missing file is left out.
fn restrict_to_owner(file: &Path) -> io::Result<()> {
    match fs::metadata(file) {
        Ok(found) if found.mode() & 0o077 == 0 => Ok(()),
        Ok(_) => fs::set_permissions(file, fs::Permissions::from_mode(0o600)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates the file of a SQLite database that only its owner can use. Takes the access of others away from
/// an existing file and from the companions beside it. SQLite gives new companions the mode of the file.
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
pub fn replace(file: &Path, text: &str) -> io::Result<()> {
    let draft = with_suffix(file, "draft");
    let _ = fs::remove_file(&draft);
    let mut opened = create_new(&draft)?;
    opened.write_all(text.as_bytes())?;
    opened.sync_all()?;
    fs::rename(&draft, file)
}

/// Returns the path with a suffix added to the file name.
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}
