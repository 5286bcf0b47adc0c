//! Where a command's lines go.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

/// A new file or standard output. A file that is not finished is removed again: lines have no end
/// mark, so that a part of them would look like all of them.
#[derive(Debug)]
pub(super) enum Output {
    Lines(BufWriter<io::Stdout>),
    File(BufWriter<File>, Unfinished),
}

/// A file to remove, unless that is taken back.
#[derive(Debug)]
pub(super) struct Unfinished(Option<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            // What it was for has failed anyway.
            let _ = fs::remove_file(file);
        }
    }
}

impl Output {
    /// Opens standard output, or a file that must not be there yet.
    pub(super) fn create(file: Option<&Path>) -> io::Result<Self> {
        let Some(path) = file else {
            return Ok(Self::Lines(BufWriter::new(io::stdout())));
        };
        let named = |error: io::Error| {
            let text = format!("cannot write {}: {error}", path.display());
            io::Error::new(error.kind(), text)
        };
        let file = File::create_new(path).map_err(named)?;
        let unfinished = Unfinished(Some(path.to_owned()));
        Ok(Self::File(BufWriter::new(file), unfinished))
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Lines(out) => out.write_all(text),
            Self::File(out, _) => out.write_all(text),
        }
    }

    /// Done when a file is on the disk.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Lines(mut out) => out.flush(),
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
        let mut output = Output::create(Some(&file)).unwrap();
        output.write(b"a part\n").unwrap();
        drop(output);
        assert!(!file.exists());
        let mut output = Output::create(Some(&file)).unwrap();
        output.write(b"all\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
        let refused = Output::create(Some(&file)).unwrap_err().to_string();
        assert!(refused.contains("backup"), "{refused}");
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
    }
}
