//! The search of files for plain values, on the command line of an operator.
//!
//! The application itself does not open its files for that: to close a file of SQLite would release the locks of the
//! connections of its process.

use std::{fs::File, io, path::PathBuf};

use es_event::{Error, Result};
use es_personal::{FileListing, PlainValues};
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
        let FileListing {
            files,
            mut failures,
        } = FileListing::load(&path);
        if !files.is_empty() {
            push(report, "searched", path.display().to_string())?;
        } else if failures.is_empty() {
            failures.push((path, io::ErrorKind::NotFound.into()));
        }
        for file in files {
            match File::open(&file).and_then(|bytes| values.is_in_stream(bytes)) {
                Ok(true) => push(report, "found", file.display().to_string())?,
                Ok(false) => {}
                // A write-ahead log may be gone by now.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => failures.push((file, error)),
            }
        }
        for (path, error) in failures {
            is_complete = false;
            push(report, "unsearched", format!("{}: {error}", path.display()))?;
        }
    }
    Ok(is_complete)
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

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use serde_json::json;

    use super::*;

    #[test]
    fn links_to_files_are_searched_and_what_cannot_be_searched_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let logs = folder.path().join("logs");
        let real = folder.path().join("real");
        for folder in [&logs, &real] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(real.join("a.log"), "Ada Lovelace").unwrap();
        symlink("../real/a.log", logs.join("a.log")).unwrap();
        symlink("../real", logs.join("folder")).unwrap();
        symlink("../gone", logs.join("broken")).unwrap();
        let mut report = json!({ "searched": [], "found": [], "unsearched": [] });
        let values = PlainValues::new(["Ada Lovelace".to_owned()]).unwrap();
        let is_complete = search_files(&mut report, &values, std::slice::from_ref(&logs));
        assert!(!is_complete.unwrap());
        assert_eq!(report["found"], json!([logs.join("a.log")]));
        assert_eq!(report["searched"], json!([logs]));
        let unsearched = report["unsearched"].to_string();
        for name in ["broken: ", "folder: it is a link to a folder"] {
            assert!(unsearched.contains(name), "{unsearched}");
        }
        for name in ["broken", "folder"] {
            fs::remove_file(logs.join(name)).unwrap();
        }
        assert!(search_files(&mut report, &values, &[logs]).unwrap());
    }
}
