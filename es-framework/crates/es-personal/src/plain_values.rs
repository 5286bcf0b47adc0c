//! A search for plain values that must be gone, as bytes, in each form in which the framework writes a text.

use std::{
    ffi::OsStr,
    fmt,
    fs::{self, FileType},
    io::{self, Read},
    path::{Path, PathBuf},
};

use aho_corasick::{AhoCorasick, BuildError};
use serde_json::Value;

/// Shorter texts are in every file.
const MIN_LENGTH: usize = 3;

/// The most texts of one search.
const MAX_TEXTS: usize = 1_000;

/// Texts that must not be stored anywhere.
#[doc(hidden)]
pub struct PlainValues {
    texts: Vec<String>,
    /// The number of values that are too short, or no texts.
    unsearchable: usize,
    too_many: usize,
    automaton: AhoCorasick,
}

/// A value may be personal.
impl fmt::Debug for PlainValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlainValues({})", self.texts.len())
    }
}

impl PlainValues {
    /// Searches for these texts, except those that are too short, and those after the first thousand.
    ///
    /// # Errors
    /// They are too long.
    pub fn new(texts: impl IntoIterator<Item = String>) -> Result<Self, BuildError> {
        let mut texts: Vec<_> = texts.into_iter().collect();
        texts.sort_unstable();
        texts.dedup();
        let all = texts.len();
        texts.retain(|text| text.chars().count() >= MIN_LENGTH);
        let unsearchable = all.saturating_sub(texts.len());
        let too_many = texts.len().saturating_sub(MAX_TEXTS);
        texts.truncate(MAX_TEXTS);
        // The search of ASCII ignores case, because read models store texts in lower case, too.
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(texts.iter().flat_map(|text| stored_forms(text)))?;
        Ok(Self {
            texts,
            unsearchable,
            too_many,
            automaton,
        })
    }

    /// Searches for the texts in JSON values, at any depth.
    ///
    /// # Errors
    /// As [`PlainValues::new`].
    pub fn from_json<'a>(values: impl IntoIterator<Item = &'a Value>) -> Result<Self, BuildError> {
        let (mut texts, mut others) = (Vec::new(), 0);
        for value in values {
            collect_texts(value, &mut texts, &mut others);
        }
        let values = Self::new(texts)?;
        let unsearchable = values.unsearchable.saturating_add(others);
        Ok(Self {
            unsearchable,
            ..values
        })
    }

    /// Returns the texts to search for.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Says how many values cannot be searched for, if there are some.
    #[must_use]
    pub fn unsearchable_text(&self) -> Option<String> {
        let count = self.unsearchable;
        (count > 0).then(|| format!("values that are too short or no texts: {count}"))
    }

    /// Says how many texts are not searched for because they are too many, if there are some.
    #[must_use]
    pub fn too_many_text(&self) -> Option<String> {
        let count = self.too_many;
        (count > 0).then(|| format!("values beyond the first {MAX_TEXTS}: {count}"))
    }

    /// Returns true if bytes contain one of the texts.
    #[must_use]
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        !self.texts.is_empty() && self.automaton.is_match(bytes)
    }

    /// Returns true if one of the texts can be read.
    ///
    /// # Errors
    /// The bytes cannot be read.
    pub fn is_in_stream(&self, bytes: impl Read) -> io::Result<bool> {
        if self.texts.is_empty() {
            return Ok(false);
        }
        let mut found = self.automaton.stream_find_iter(bytes);
        found
            .next()
            .transpose()
            .map(|first_match| first_match.is_some())
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>, others: &mut usize) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => {
            items
                .iter()
                .for_each(|item| collect_texts(item, texts, others));
        }
        Value::Object(members) => {
            members
                .values()
                .for_each(|item| collect_texts(item, texts, others));
        }
        Value::Bool(_) | Value::Number(_) => *others = others.saturating_add(1),
        Value::Null => {}
    }
}

/// Returns the text as it is, in lower case and as letters and digits alone, as search columns hold it, each also with the
/// escapes of JSON.
fn stored_forms(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let letters: String = lower.chars().filter(|one| one.is_alphanumeric()).collect();
    let plain = [text.to_owned(), lower, letters];
    let escaped = plain.clone().map(|text| {
        let json = Value::String(text).to_string();
        let inner = json
            .strip_prefix('"')
            .and_then(|json| json.strip_suffix('"'));
        inner.unwrap_or_default().to_owned()
    });
    let mut forms = Vec::from(plain);
    forms.extend(escaped);
    forms.retain(|form| form.chars().count() >= MIN_LENGTH);
    forms.sort_unstable();
    forms.dedup();
    forms
}

/// The files at a path.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct FileListing {
    /// The files, and links to files.
    pub files: Vec<PathBuf>,
    /// The folders and links whose files are unknown, each with the reason.
    pub failures: Vec<(PathBuf, io::Error)>,
}

impl FileListing {
    /// Lists all files below a folder; or a file with those beside it that begin with its name, such as its write-ahead log.
    #[must_use]
    pub fn load(path: &Path) -> Self {
        let mut listing = Self::default();
        if path.is_dir() {
            listing.add_folder(path, "".as_ref());
            return listing;
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let name = path.file_name().unwrap_or_default();
        listing.add_folder(folder.unwrap_or(Path::new(".")), name);
        listing
    }

    /// Adds the files that begin with this name, and those of all folders if it is empty.
    fn add_folder(&mut self, folder: &Path, name: &OsStr) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if name.is_empty() => return self.failures.push((folder.to_owned(), error)),
            Err(error) => return self.failures.push((folder.join(name), error)),
        };
        for entry in entries {
            let added = entry.and_then(|entry| {
                let begin = name.as_encoded_bytes();
                if entry.file_name().as_encoded_bytes().starts_with(begin) {
                    self.add_entry(entry.path(), entry.file_type()?, name.is_empty());
                }
                Ok(())
            });
            if let Err(error) = added {
                self.failures.push((folder.to_owned(), error));
            }
        }
    }

    fn add_entry(&mut self, path: PathBuf, kind: FileType, with_folders: bool) {
        if kind.is_file() {
            self.files.push(path);
        } else if kind.is_dir() && with_folders {
            self.add_folder(&path, "".as_ref());
        } else if kind.is_symlink() {
            match fs::metadata(&path) {
                Ok(target) if target.is_file() => self.files.push(path),
                // The links of folders may form a circle.
                Ok(target) if target.is_dir() && with_folders => {
                    let reason = "it is a link to a folder: name the folder itself";
                    self.failures.push((path, io::Error::other(reason)));
                }
                Ok(_) => {}
                Err(error) => self.failures.push((path, error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(texts: &[&str]) -> PlainValues {
        PlainValues::new(texts.iter().map(|text| (*text).to_owned())).unwrap()
    }

    #[test]
    fn a_text_is_found_in_each_form_in_which_it_is_stored() {
        let name = values(&["Zoë \"O\" Tar-Minyatur"]);
        for stored in [
            "x Zoë \"O\" Tar-Minyatur y",
            "{\"name\":\"Zoë \\\"O\\\" Tar-Minyatur\"}",
            "zoë \"o\" tar-minyatur",
            "zoëotarminyatur",
        ] {
            assert!(name.is_in(stored.as_bytes()), "{stored}");
        }
        assert!(!name.is_in(b"Tar-Minyatur"));
    }

    #[test]
    fn texts_that_are_everywhere_are_left_out() {
        let short = values(&["Al", "Al", "Bob"]);
        assert_eq!(short.texts(), ["Bob"]);
        assert!(short.unsearchable_text().unwrap().ends_with(": 1"));
        let numbers = [json!({ "age": 77, "name": "Ada", "phone": null })];
        let numbers = PlainValues::from_json(&numbers).unwrap();
        assert!(numbers.unsearchable_text().unwrap().ends_with(": 1"));
        assert!(!short.is_in(b"Al"));
        assert!(!values(&[]).is_in(b"anything"));
    }

    #[test]
    fn texts_that_are_too_many_are_counted() {
        let numbers: Vec<_> = (1_000..2_003).map(|number| number.to_string()).collect();
        let many = PlainValues::new(numbers).unwrap();
        assert!(many.is_in(b"1999") && !many.is_in(b"2002"));
        assert!(many.too_many_text().unwrap().ends_with(": 3"));
        assert_eq!(many.unsearchable_text(), None);
    }

    #[test]
    fn a_text_between_two_reads_is_found() {
        let text = "Ada Lovelace".repeat(3);
        let bytes = [vec![b'x'; 65_530], text.clone().into_bytes()].concat();
        assert!(values(&[&text]).is_in_stream(&bytes[..]).unwrap());
    }

    #[test]
    fn a_file_is_searched_with_those_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rows.sqlite", "rows.sqlite-wal", "other.sqlite"] {
            fs::write(folder.path().join(name), name).unwrap();
        }
        let rows = FileListing::load(&folder.path().join("rows.sqlite"));
        assert_eq!((rows.files.len(), rows.failures.len()), (2, 0));
        assert_eq!(FileListing::load(folder.path()).files.len(), 3);
        let missing = folder.path().join("missing/file");
        assert_eq!(FileListing::load(&missing).failures[0].0, missing);
    }
}
