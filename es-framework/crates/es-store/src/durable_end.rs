//! The end of a log, remembered in a file outside it: the number of durable events, the hash of the last
//! one, the number of schemas and, for a database that is found by its address, the identity of the store.
//! A start that finds less has lost something that was acknowledged.

use std::{
    fs::{self, DirBuilder, File},
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use uuid::Uuid;

use crate::{secret_file, write::ChainHead};
use es_event::Hash;

/// The length of the file, without and with an identity. Each fits into one sector, so a crash leaves the
/// old text or the new one.
const LENGTH: usize = 160;
const LENGTH_WITH_IDENTITY: usize = 200;

/// The content of the file.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndRecord {
    /// The number of events.
    pub events: u64,
    /// The hash of the last event.
    pub hash: Hash,
    /// The number of schemas.
    pub schemas: u64,
    /// The identity of the store. An engine whose events are beside the file has none.
    pub identity: Option<Uuid>,
}

impl EndRecord {
    /// Returns the record for the end of a chain.
    #[must_use]
    pub fn new(head: &ChainHead, schemas: usize) -> Self {
        Self {
            events: head.next.map_or(u64::MAX, |next| next.get()),
            hash: head.predecessor,
            schemas: u64::try_from(schemas).unwrap_or_default(),
            identity: None,
        }
    }

    /// Reads a file. A damaged file is reported and counts as none: the events themselves are whole.
    #[must_use]
    pub fn read(file: &Path) -> Option<Self> {
        let text = fs::read(file).ok()?;
        let record = std::str::from_utf8(&text).ok().and_then(Self::parse);
        if record.is_none() {
            tracing::warn!(file = %file.display(), "the file is damaged, so the number of events is not checked");
        }
        record
    }

    /// Returns the text of the file. Its checksum shows whether it was damaged itself.
    fn text(&self) -> String {
        let mut text = format!("{} {} {}", self.events, self.hash, self.schemas);
        let mut length = LENGTH;
        if let Some(identity) = self.identity {
            text = format!("{text} {identity}");
            length = LENGTH_WITH_IDENTITY;
        }
        let checksum = crc32fast::hash(text.as_bytes());
        let text = format!("{text} {checksum:08x}");
        format!("{text:<0$}\n", length.saturating_sub(1))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let record = Self {
            events: words.next()?.parse().ok()?,
            hash: words.next()?.parse().ok()?,
            schemas: words.next()?.parse().ok()?,
            // Without an identity, this word is the checksum.
            identity: words.next()?.parse().ok(),
        };
        (record.text() == text).then_some(record)
    }
}

/// Writes the file.
#[doc(hidden)]
#[derive(Debug)]
pub struct EndFile {
    path: PathBuf,
    /// Open after the first write.
    file: Option<Arc<File>>,
    written: Option<EndRecord>,
    is_flushed: bool,
    has_failed: bool,
}

impl EndFile {
    /// Creates the value for a log that was compared with the file.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            written: EndRecord::read(&path),
            path,
            file: None,
            is_flushed: true,
            has_failed: false,
        }
    }

    /// Writes the record of durable events and schemas, which costs about two microseconds. From then on, it
    /// survives the end of the process. The first of several failures is reported.
    pub fn record(&mut self, record: EndRecord) {
        let written = self.write(record);
        self.report(written);
    }

    fn write(&mut self, record: EndRecord) -> io::Result<()> {
        if self.written == Some(record) {
            return Ok(());
        }
        let text = record.text();
        let file = match self.file.take() {
            Some(file) => file,
            None => Arc::new(create_file(&self.path, text.len())?),
        };
        let mut writer = &*file;
        writer.rewind()?;
        writer.write_all(text.as_bytes())?;
        (self.file, self.written) = (Some(file), Some(record));
        self.is_flushed = false;
        Ok(())
    }

    /// Returns the file if the last record has to be flushed, and regards it as flushed. The caller need not
    /// keep a lock during the flush, which takes as long as that of a commit.
    pub fn take_unflushed(&mut self) -> Option<Arc<File>> {
        let file = self.file.clone().filter(|_| !self.is_flushed);
        self.is_flushed = true;
        file
    }

    /// Reports the first of several failures to write or flush the file.
    pub fn report(&mut self, outcome: io::Result<()>) {
        if let Err(error) = &outcome
            && !self.has_failed
        {
            tracing::warn!(file = %self.path.display(), %error, "the number of events was not written, so a later start may not notice that events are missing");
        }
        self.has_failed = outcome.is_err();
    }
}

/// Opens the file for writing. Its name must be durable, too.
fn create_file(path: &Path, length: usize) -> io::Result<File> {
    let is_new = !path.exists();
    let file = secret_file::open_or_create(path)?;
    file.set_len(u64::try_from(length).unwrap_or_default())?;
    if let Some(directory) = path.parent().filter(|_| is_new) {
        File::open(directory)?.sync_all()?;
    }
    Ok(file)
}

/// Creates a directory, which on Unix only its owner may read. A directory that exists stays as it is.
///
/// # Errors
/// The operating system refuses it.
#[doc(hidden)]
pub fn create_directory(path: &Path) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().take_while(|path| !path.exists()).collect();
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    // A file is durable only when the entries of its directories are.
    #[cfg(unix)]
    for parent in missing.into_iter().filter_map(Path::parent) {
        let parent = if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        };
        File::open(parent)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use es_event::HashVersion;

    const IDENTITY: Uuid = Uuid::from_u128(0x5eed_0000_1234);

    #[test]
    fn a_damaged_record_is_none() {
        for identity in [None, Some(IDENTITY)] {
            let record = EndRecord {
                events: 17,
                hash: Hash::from_bytes([9; 32]),
                schemas: 3,
                identity,
            };
            let text = record.text();
            assert_eq!(EndRecord::parse(&text), Some(record));
            for bit in 0..text.len() * 8 {
                let mut bytes = text.clone().into_bytes();
                bytes[bit / 8] ^= 1 << (bit % 8);
                let damaged = std::str::from_utf8(&bytes).ok().and_then(EndRecord::parse);
                assert_eq!(damaged, None, "bit {bit}");
            }
        }
        assert_eq!(EndRecord::parse(""), None);
    }

    #[test]
    fn every_record_of_an_engine_has_the_same_length() {
        for (identity, length) in [(None, 160), (Some(IDENTITY), 200)] {
            for version in [HashVersion::V1, HashVersion::V2] {
                for count in [0, u64::MAX] {
                    let record = EndRecord {
                        events: count,
                        hash: Hash::new(version, [9; 32]),
                        schemas: count,
                        identity,
                    };
                    assert_eq!(record.text().len(), length);
                    assert_eq!(EndRecord::parse(&record.text()), Some(record));
                }
            }
        }
    }

    #[test]
    fn a_record_of_an_earlier_version_is_read() {
        let text = format!("17 {} 3 ", "09".repeat(32));
        let checksum = crc32fast::hash(text.trim_end().as_bytes());
        let text = format!("{:<159}\n", format!("{text}{checksum:08x}"));
        let record = EndRecord::parse(&text).map(|record| (record.events, record.schemas));
        assert_eq!(record, Some((17, 3)));
    }
}
