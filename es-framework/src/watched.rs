//! A value that is read from files, and read again when they change: tokens and certificates are
//! renewed without a restart.

use std::{fs, os::unix::fs::MetadataExt as _, path::PathBuf, sync::Arc, time::Duration};

use tokio::{sync::watch, time::sleep};

use crate::Result;

/// How long a change goes unseen at most.
const PAUSE: Duration = Duration::from_secs(1);

/// The value as it was last read without an error.
#[derive(Debug)]
pub(crate) struct Watched<T>(watch::Receiver<Arc<T>>);

impl<T> Clone for Watched<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// What tells two states of a file apart.
type Mark = Vec<Option<(u64, u64, u64, i64, i64)>>;

impl<T: Send + Sync + 'static> Watched<T> {
    /// Reads it, and goes on reading it as long as someone holds it. A change that cannot be read
    /// is logged, and the value stays as it was: half a file must not lock everyone out.
    ///
    /// # Errors
    /// The first reading failed.
    pub(crate) fn start<R>(what: &'static str, files: Vec<PathBuf>, read: R) -> Result<Self>
    where
        R: Fn() -> Result<T> + Send + Sync + 'static,
    {
        // Taken before the reading, so that a change in between is seen later.
        let mark = mark(&files);
        let (sender, receiver) = watch::channel(Arc::new(read()?));
        tokio::spawn(follow(what, files, mark, Arc::new(read), sender));
        Ok(Self(receiver))
    }

    /// Waits until it is read anew.
    pub(crate) async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }

    pub(crate) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.borrow())
    }
}

async fn follow<T, R>(
    what: &'static str,
    files: Vec<PathBuf>,
    mut seen: Mark,
    read: Arc<R>,
    sender: watch::Sender<Arc<T>>,
) where
    T: Send + Sync + 'static,
    R: Fn() -> Result<T> + Send + Sync + 'static,
{
    let files = Arc::new(files);
    while !sender.is_closed() {
        sleep(PAUSE).await;
        let (files, read, last) = (Arc::clone(&files), Arc::clone(&read), seen.clone());
        // A disk that hangs must not hang the requests.
        let looked = tokio::task::spawn_blocking(move || {
            let now = mark(&files);
            (now != last).then(|| (now, read()))
        });
        match looked.await {
            Ok(None) | Err(_) => {}
            Ok(Some((now, Ok(value)))) => {
                tracing::info!("{what} changed and are used from now on");
                sender.send_replace(Arc::new(value));
                seen = now;
            }
            Ok(Some((now, Err(error)))) => {
                tracing::error!(%error, "{what} changed and cannot be used: they stay as they were");
                seen = now;
            }
        }
    }
}

fn mark(files: &[PathBuf]) -> Mark {
    let one = |file: &PathBuf| {
        let state = fs::metadata(file).ok()?;
        Some((
            state.dev(),
            state.ino(),
            state.len() ^ u64::from(state.mode()).rotate_left(32),
            state.mtime(),
            state.mtime_nsec(),
        ))
    };
    files.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Error;

    fn number(file: &Path) -> Result<u32> {
        let text = fs::read_to_string(file).map_err(|error| Error::because("unread", error))?;
        text.trim()
            .parse()
            .map_err(|error| Error::because("no number", error))
    }

    async fn becomes(watched: &Watched<u32>, expected: u32) {
        for _ in 0..600 {
            if *watched.get() == expected {
                return;
            }
            sleep(Duration::from_millis(50)).await;
        }
        panic!("it stays {}", watched.get());
    }

    #[tokio::test]
    async fn a_change_is_seen_and_a_broken_one_leaves_the_value_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        fs::write(&file, "1").unwrap();
        let watched = file.clone();
        let value = Watched::start("numbers", vec![file.clone()], move || number(&watched));
        let value = value.unwrap();
        assert_eq!(*value.get(), 1);
        fs::write(&file, "many").unwrap();
        sleep(PAUSE * 2).await;
        assert_eq!(*value.get(), 1);
        fs::write(&file, "2222").unwrap();
        becomes(&value, 2222).await;
    }

    #[tokio::test]
    async fn the_first_reading_has_to_succeed() {
        let read = || number(Path::new("/nowhere/at-all"));
        assert!(Watched::start("numbers", vec![], read).is_err());
    }
}
