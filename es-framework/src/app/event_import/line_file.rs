//! Reads a file line by line, with a limit for a line, and computes the digest of all that it reads.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{Error, Result};

/// The longest line in bytes.
const MAX_LINE: u64 = 4 * 1024 * 1024;

/// The lines of a file that are not blank.
pub(super) struct LineFile {
    path: PathBuf,
    reader: BufReader<File>,
    number: u64,
    hasher: Sha256,
}

/// A line of a file.
pub(super) struct NumberedLine {
    /// The number of the line. The first line is 1.
    pub(super) number: u64,
    pub(super) text: Vec<u8>,
}

impl LineFile {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)
            .map_err(|error| Error::because(format!("{} cannot be read", path.display()), error))?;
        Ok(Self {
            path: path.to_owned(),
            reader: BufReader::with_capacity(1 << 20, file),
            number: 0,
            hasher: Sha256::new(),
        })
    }

    /// Returns the next line that is not blank.
    pub(super) fn next_line(&mut self) -> Result<Option<NumberedLine>> {
        loop {
            let mut text = Vec::new();
            let mut bounded = self.reader.by_ref().take(MAX_LINE);
            let read = bounded.read_until(b'\n', &mut text).map_err(|error| {
                Error::because(format!("{} cannot be read", self.path.display()), error)
            })?;
            self.number = self.number.saturating_add(1);
            self.hasher.update(&text);
            if read == 0 {
                return Ok(None);
            }
            if u64::try_from(read).is_ok_and(|read| read == MAX_LINE) {
                let number = self.number;
                let sentence =
                    format!("line {number} has {MAX_LINE} bytes or more, which no event has");
                return Err(Error::new(sentence));
            }
            if !text.trim_ascii().is_empty() {
                let number = self.number;
                return Ok(Some(NumberedLine { number, text }));
            }
        }
    }

    /// Returns the digest of the lines so far.
    pub(super) fn digest(self) -> String {
        es_event::hex(&self.hasher.finalize())
    }
}
