//! Writes files. All checks come before the first write, and a write that fails leaves nothing behind.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::error::ToolError;

/// A file to write: its path in the application, and its text.
pub(crate) struct NewFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Writes all files of an application into a folder that does not exist.
pub(crate) fn create_application(root: &Path, files: &[NewFile]) -> Result<(), ToolError> {
    // The folder gets its name when it is complete.
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let partial = root.with_file_name(format!(".{name}.{}", std::process::id()));
    let written = write_all(&partial, files)
        .and_then(|()| fs::rename(&partial, root).map_err(|error| ToolError::io(root, &error)));
    if written.is_err() {
        let _ = fs::remove_dir_all(&partial);
    }
    written
}

fn write_all(root: &Path, files: &[NewFile]) -> Result<(), ToolError> {
    fs::create_dir(root).map_err(|error| ToolError::io(root, &error))?;
    for file in files {
        let path = root.join(&file.path);
        let folder = path.parent().unwrap_or(root);
        fs::create_dir_all(folder).map_err(|error| ToolError::io(folder, &error))?;
        create(&path, &file.text)?;
        if file.text.starts_with("#!") {
            let executable = fs::Permissions::from_mode(0o755);
            fs::set_permissions(&path, executable).map_err(|error| ToolError::io(&path, &error))?;
        }
    }
    Ok(())
}

/// Writes a new file, and another text of the crate's root, if there is one.
pub(crate) fn add_module(
    module: (&Path, &str),
    (root, text): (&Path, Option<&str>),
) -> Result<(), ToolError> {
    create(module.0, module.1)?;
    let replaced = text.map_or(Ok(()), |text| replace(root, text));
    if replaced.is_err() {
        let _ = fs::remove_file(module.0);
    }
    replaced.map_err(|error| ToolError::io(root, &error))
}

/// Lays out a file and the files of its modules. Returns a hint for the report if rustfmt is not there; the files compile
/// without it.
pub(crate) fn format_source(file: &Path) -> &'static str {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]).arg(file);
    let formatted = rustfmt
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match formatted {
        Ok(status) if status.success() => "",
        _ => "rustfmt did not run: `cargo fmt` lays out what is new.\n",
    }
}

/// Writes a file that does not exist.
fn create(path: &Path, text: &str) -> Result<(), ToolError> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = created.map_err(|error| ToolError::io(path, &error))?;
    let written = file.write_all(text.as_bytes());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map_err(|error| ToolError::io(path, &error))
}

/// Replaces the text of a file in one step.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let replaced = fs::metadata(path).and_then(|metadata| {
        fs::write(&partial, text)?;
        fs::set_permissions(&partial, metadata.permissions())?;
        fs::rename(&partial, path)
    });
    if replaced.is_err() {
        let _ = fs::remove_file(&partial);
    }
    replaced
}
