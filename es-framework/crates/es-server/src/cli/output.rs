//! The output of a subcommand: a new file or standard output.

use std::{
    fmt,
    fs::{self, File},
    io::{self, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use es_event::foreign_text::escape_for_terminal;
use es_store::secret_file::{self, with_suffix};

/// Prints a sentence on standard error. It may quote what a store or a file says.
pub(super) fn report(sentence: impl fmt::Display) {
    eprintln!("{}", escape_for_terminal(&sentence.to_string()));
}

/// A new file or standard output. A file has its name only when it is complete, because half of the lines could look
/// like all of them. Only its owner can use it: it has the content of the store.
#[derive(Debug)]
pub(super) enum LineOutput {
    Stdout(BufWriter<io::Stdout>),
    File(BufWriter<File>, UnfinishedFile),
}

/// A file under a temporary name, which is removed on drop unless it was finished.
#[derive(Debug)]
pub(super) struct UnfinishedFile {
    draft: PathBuf,
    name: PathBuf,
    is_finished: bool,
}

impl UnfinishedFile {
    /// Creates the file. A draft that a killed process left is removed: somebody may read it or have given it a second
    /// name.
    fn create(name: &Path) -> io::Result<(File, Self)> {
        refuse_existing(name)?;
        let draft = with_suffix(name, "partial");
        let is_written = || io::Error::other("another command is writing it");
        let left = secret_file::try_lock(&draft)?.ok_or_else(is_written)?;
        fs::remove_file(&draft)?;
        let file = secret_file::create_new(&draft)?;
        file.try_lock().map_err(|_| is_written())?;
        drop(left);
        let name = name.to_owned();
        let unfinished = Self {
            draft,
            name,
            is_finished: false,
        };
        Ok((file, unfinished))
    }

    /// Gives the file its name, durably.
    fn finish(mut self, file: &File) -> io::Result<()> {
        file.sync_all()?;
        refuse_existing(&self.name)?;
        fs::rename(&self.draft, &self.name)?;
        self.is_finished = true;
        let folder = self
            .name
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if !self.is_finished {
            // The subcommand has failed anyway.
            let _ = fs::remove_file(&self.draft);
        }
    }
}

fn refuse_existing(name: &Path) -> io::Result<()> {
    match fs::symlink_metadata(name) {
        Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
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
        let (file, unfinished) = UnfinishedFile::create(path).map_err(named)?;
        Ok(Self::File(BufWriter::new(file), unfinished))
    }

    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.write_all(text),
            Self::File(out, _) => out.write_all(text),
        }
    }

    /// Writes everything to the disk, and gives the file its name.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush(),
            Self::File(mut out, unfinished) => {
                out.flush()?;
                unfinished.finish(out.get_ref())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_has_its_name_only_when_it_is_finished() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("backup");
        let mut output = LineOutput::create(Some(&file)).unwrap();
        output.write(b"a part\n").unwrap();
        assert_eq!(names(directory.path()), ["backup.partial"]);
        let refused = LineOutput::create(Some(&file)).unwrap_err().to_string();
        assert!(refused.contains("another command"), "{refused}");
        drop(output);
        assert!(names(directory.path()).is_empty());
        let mut output = LineOutput::create(Some(&file)).unwrap();
        output.write(b"all\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
        assert_eq!(names(directory.path()), ["backup"]);
        let refused = LineOutput::create(Some(&file)).unwrap_err().to_string();
        assert!(refused.contains("backup"), "{refused}");
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_not_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("backup");
        let output = LineOutput::create(Some(&file)).unwrap();
        fs::write(&file, "mine").unwrap();
        assert!(output.finish().is_err());
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        assert_eq!(names(directory.path()), ["backup"]);
    }

    #[test]
    fn only_the_owner_can_use_a_file_even_after_a_killed_command() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("backup");
        let draft = directory.path().join("backup.partial");
        fs::write(&draft, "what a killed command left").unwrap();
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o644)).unwrap();
        let mut reader = File::open(&draft).unwrap();
        let mut output = LineOutput::create(Some(&file)).unwrap();
        output.write(b"all\n").unwrap();
        output.finish().unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"all\n");
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let read = io::read_to_string(&mut reader).unwrap();
        assert_eq!(
            read, "what a killed command left",
            "who read it before reads nothing new"
        );
    }

    #[test]
    fn a_file_is_not_written_through_a_link_under_its_temporary_name() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("backup");
        let target = directory.path().join("target");
        fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, directory.path().join("backup.partial")).unwrap();
        let refused = LineOutput::create(Some(&file)).unwrap_err().to_string();
        assert!(
            refused.ends_with("backup.partial is a link: remove it"),
            "{refused}"
        );
        assert_eq!(fs::read(&target).unwrap(), b"mine");
    }
}
