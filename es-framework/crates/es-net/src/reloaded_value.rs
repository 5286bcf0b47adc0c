//! Reloads values from files when the files change, so that tokens and certificates can be rotated
//! without a restart.

use std::{fs, os::unix::fs::MetadataExt as _, path::PathBuf, sync::Arc, time::Duration};

use es_event::Result;
use tokio::{sync::watch, time::sleep};

/// The time between two looks at the files.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// A value that is loaded from files and reloaded when they change. It is the value of the last load
/// without an error.
#[derive(Debug)]
pub struct ReloadedValue<T>(watch::Receiver<Arc<T>>);

impl<T> Clone for ReloadedValue<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// The metadata of each watched file by which a new version is noticed: device, inode, size with mode,
/// and time of the last change. `None` if the file is missing.
type FileVersions = Vec<Option<(u64, u64, u64, i64, i64)>>;

impl<T: Send + Sync + 'static> ReloadedValue<T> {
    /// Loads the value and starts to watch its files for as long as it exists. A change that
    /// cannot be loaded is logged and the value stays the same, because half a file must not lock
    /// everyone out.
    ///
    /// # Errors
    /// The first load fails.
    pub fn load_and_watch<R>(name: &'static str, files: Vec<PathBuf>, load: R) -> Result<Self>
    where
        R: Fn() -> Result<T> + Send + Sync + 'static,
    {
        // Comes before the load, so that it sees a change in between.
        let versions = file_versions(&files);
        let (sender, receiver) = watch::channel(Arc::new(load()?));
        tokio::spawn(reload_on_change(
            name,
            files,
            versions,
            Arc::new(load),
            sender,
        ));
        Ok(Self(receiver))
    }

    /// Waits for the next reload.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }

    /// Returns the value of the last load.
    pub fn current(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }
}

/// Looks at the files in intervals, and loads the value again when they have changed.
async fn reload_on_change<T, R>(
    name: &'static str,
    files: Vec<PathBuf>,
    mut loaded: FileVersions,
    load: Arc<R>,
    sender: watch::Sender<Arc<T>>,
) where
    T: Send + Sync + 'static,
    R: Fn() -> Result<T> + Send + Sync + 'static,
{
    let files = Arc::new(files);
    while !sender.is_closed() {
        sleep(POLL_INTERVAL).await;
        let (files, load, last) = (Arc::clone(&files), Arc::clone(&load), loaded.clone());
        // A slow disk must not block requests.
        let reloading = tokio::task::spawn_blocking(move || {
            let now = file_versions(&files);
            (now != last).then(|| (now, load()))
        });
        match reloading.await {
            Ok(None) | Err(_) => {}
            Ok(Some((now, Ok(value)))) => {
                tracing::info!("{name} changed and were reloaded");
                sender.send_replace(Arc::new(value));
                loaded = now;
            }
            Ok(Some((now, Err(error)))) => {
                tracing::error!(%error, "{name} changed and cannot be loaded: the old ones stay in use");
                loaded = now;
            }
        }
    }
}

/// Reads the metadata of the files.
fn file_versions(files: &[PathBuf]) -> FileVersions {
    let version = |file: &PathBuf| {
        let metadata = fs::metadata(file).ok()?;
        Some((
            metadata.dev(),
            metadata.ino(),
            metadata.len() ^ u64::from(metadata.mode()).rotate_left(32),
            metadata.mtime(),
            metadata.mtime_nsec(),
        ))
    };
    files.iter().map(version).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use es_event::Error;

    fn number(file: &Path) -> Result<u32> {
        let text = fs::read_to_string(file).map_err(|error| Error::because("unread", error))?;
        text.trim()
            .parse()
            .map_err(|error| Error::because("no number", error))
    }

    async fn becomes(watched: &ReloadedValue<u32>, expected: u32) {
        for _ in 0..600 {
            if *watched.current() == expected {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("it stays {}", watched.current());
    }

    #[tokio::test]
    async fn a_change_is_seen_and_a_broken_one_leaves_the_value_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        fs::write(&file, "1").unwrap();
        let watched = file.clone();
        let value =
            ReloadedValue::load_and_watch("numbers", vec![file.clone()], move || number(&watched));
        let value = value.unwrap();
        assert_eq!(*value.current(), 1);
        fs::write(&file, "many").unwrap();
        sleep(POLL_INTERVAL * 2).await;
        assert_eq!(*value.current(), 1);
        fs::write(&file, "2222").unwrap();
        becomes(&value, 2222).await;
    }

    #[tokio::test]
    async fn the_first_reading_has_to_succeed() {
        let read = || number(Path::new("/nowhere/at-all"));
        assert!(ReloadedValue::load_and_watch("numbers", vec![], read).is_err());
    }
}
