//! The output of a command: a new file or standard output.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

/// A new file or standard output. An unfinished file is removed, because lines have no end mark and half
/// of them would look like all of them.
#[derive(Debug)]
pub(super) enum LineOutput {
    Stdout(BufWriter<io::Stdout>),
    File(BufWriter<File>, UnfinishedFile),
}

/// A file that is removed on drop, unless it was finished.
#[derive(Debug)]
pub(super) struct UnfinishedFile(Option<PathBuf>);

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            // The command has failed anyway.
            let _ = fs::remove_file(file);
        }
    }
}

impl LineOutput {
    /// Opens standard output, or a file that must not exist.
    pub(super) fn create(file: Option<&Path>) -> io::Result<Self> {
        let Some(path) = file else {
            return Ok(Self::Stdout(BufWriter::new(io::stdout())));
        };
        let named = |error: io::Error| {
            let text = format!("cannot write {}: {error}", path.display());
            io::Error::new(error.kind(), text)
        };
        let file = File::create_new(path).map_err(named)?;
        let unfinished = UnfinishedFile(Some(path.to_owned()));
        Ok(Self::File(BufWriter::new(file), unfinished))
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(text),
            Self::File(out, _) => out.write_all(text),
        }
    }

    /// Writes everything to the disk and keeps the file.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush(),
            Self::File(mut out, mut unfinished) => {
                out.flush()?;
                out.get_ref().sync_all()?;
                unfinished.0 = None;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_finished_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("backup");
        let mut output = LineOutput::create(Some(&file)).unwrap();
        output.write(b"a part\n").unwrap();
        drop(output);
        assert!(!file.exists());
        let mut output = LineOutput::create(Some(&file)).unwrap();
        output.write(b"all\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
        let refused = LineOutput::create(Some(&file)).unwrap_err().to_string();
        assert!(refused.contains("backup"), "{refused}");
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
    }
}
