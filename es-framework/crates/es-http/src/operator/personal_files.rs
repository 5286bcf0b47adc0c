//! The search of files for plain values, on the command line of an operator.
//!
//! The application itself does not open its files for that: to close a file of SQLite would release the locks of the
//! connections of its process.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use es_event::{Error, Result};
use es_personal::{PlainValues, list_files};
use serde_json::Value;

/// Searches the files that the application names, and others, and adds the result to the report of the application. Returns
/// false if one of them cannot be searched.
pub(super) fn search_files(
    report: &mut Value,
    values: &PlainValues,
    also: &[PathBuf],
) -> Result<bool> {
    let mut is_complete = true;
    let named = report.get("files").and_then(Value::as_array);
    let named = named.into_iter().flatten().filter_map(Value::as_str);
    let paths: Vec<_> = named
        .map(PathBuf::from)
        .chain(also.iter().cloned())
        .collect();
    for path in paths {
        let name = path.display().to_string();
        match search_path(&path, values) {
            Ok(found) => {
                push(report, "searched", name)?;
                for file in found {
                    push(report, "found", file.display().to_string())?;
                }
            }
            Err(error) => {
                is_complete = false;
                push(report, "unsearched", format!("{name}: {error}"))?;
            }
        }
    }
    Ok(is_complete)
}

fn search_path(path: &Path, values: &PlainValues) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let files = list_files(path)?;
    if files.is_empty() {
        return Err(io::ErrorKind::NotFound.into());
    }
    for file in files {
        match File::open(&file).and_then(|bytes| values.is_in_stream(bytes)) {
            Ok(true) => found.push(file),
            Ok(false) => {}
            // A write-ahead log may be gone by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

pub(super) fn push(report: &mut Value, list: &str, entry: String) -> Result<()> {
    let list = report.get_mut(list).and_then(Value::as_array_mut);
    let list =
        list.ok_or_else(|| Error::new("the response of the application has an unknown form"))?;
    if !list.iter().any(|known| known == entry.as_str()) {
        list.push(Value::String(entry));
    }
    Ok(())
}
