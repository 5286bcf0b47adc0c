//! The file `postgres.end` in the data folder of an instance. It remembers the end of the log outside the
//! database, so that a start notices when the database has lost events or is another one.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
};

use super::known_log::KnownLog;
use es_store::durable_end::{EndFile, EndRecord, create_directory};

const NAME: &str = "postgres.end";

/// The file, or nothing if the instance has no data folder.
#[derive(Debug, Default)]
pub(super) struct RememberedEnd {
    file: Option<Mutex<EndFile>>,
}

impl RememberedEnd {
    /// Reads the file in this folder. Returns the log that the instance knows from earlier processes, too.
    pub(super) fn open(folder: Option<&Path>) -> (Self, KnownLog) {
        let Some(folder) = folder else {
            return Default::default();
        };
        let path = folder.join(NAME);
        let known = EndRecord::read(&path).map(KnownLog::from);
        let mut file = EndFile::new(path);
        file.report(create_directory(folder));
        let file = Some(Mutex::new(file));
        (Self { file }, known.unwrap_or_default())
    }

    /// Writes the end of the log without a flush.
    pub(super) fn record(&self, known: &KnownLog) {
        self.with_file(|file| file.record(known.end_record()));
    }

    /// Makes the last record durable.
    pub(super) fn flush(&self) {
        // The writer does not wait for the flush.
        if let Some(Some(unflushed)) = self.with_file(EndFile::take_unflushed) {
            let flushed = unflushed.sync_data();
            self.with_file(|file| file.report(flushed));
        }
    }

    /// A poisoned lock guards a file whose next record is complete again.
    fn with_file<T>(&self, act: impl FnOnce(&mut EndFile) -> T) -> Option<T> {
        let file = self.file.as_ref()?;
        Some(act(&mut file
            .lock()
            .unwrap_or_else(PoisonError::into_inner)))
    }
}
