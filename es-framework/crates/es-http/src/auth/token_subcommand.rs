//! The subcommand `token` of every application: `create` and `revoke`.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use es_event::{Error, Result};
use es_store::secret_file;

use super::tokens::{FileToken, FileTokens, is_valid_name, is_valid_subject};

#[derive(Debug, Subcommand)]
pub(crate) enum TokensFileAction {
    /// Creates a token and prints it once. The file stores only its hash.
    Create {
        #[command(flatten)]
        tokens: TokensFileArguments,
        /// Name of the caller.
        #[arg(long, value_parser = word)]
        name: String,
        /// Role of the caller. May be repeated.
        #[arg(long = "role", value_name = "ROLE", value_parser = word)]
        roles: Vec<String>,
        /// Id of what belongs to the caller, such as the id of a reader: commands and queries with an owner take it.
        #[arg(long, value_name = "ID", value_parser = owner_id)]
        owner: Option<String>,
    },
    /// Revokes the token of this name. It becomes invalid within about a second.
    Revoke {
        #[command(flatten)]
        tokens: TokensFileArguments,
        /// Name of the caller.
        #[arg(long, value_parser = word)]
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokensFileArguments {
    /// File with the tokens. It is created if it does not exist.
    #[arg(long, env = "AUTH_TOKENS_FILE", value_name = "FILE")]
    file: PathBuf,
}

fn word(text: &str) -> Result<String, &'static str> {
    if is_valid_name(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 64 letters, digits and . _ : @ - are taken")
    }
}

fn owner_id(text: &str) -> Result<String, &'static str> {
    if is_valid_subject(text) {
        Ok(text.to_owned())
    } else {
        Err("1 to 255 visible ASCII characters are taken")
    }
}

impl TokensFileAction {
    /// Creates or revokes a bearer token in the file of tokens.
    pub(crate) fn run(self) -> Result<()> {
        match self {
            Self::Create {
                tokens,
                name,
                roles,
                owner,
            } => {
                let secret = create(&tokens.file, &name, &roles, owner.as_deref())?;
                let mut out = io::stdout().lock();
                writeln!(out, "{secret}")
                    .and_then(|()| out.flush())
                    .map_err(|error| Error::because("cannot write to standard output", error))
            }
            Self::Revoke { tokens, name } => revoke(&tokens.file, &name),
        }
    }
}

fn create(file: &Path, name: &str, roles: &[String], owner_id: Option<&str>) -> Result<String> {
    let _lock = lock(file)?;
    let lines = text(file)?;
    if parse(file, &lines)?.contains_name(name) {
        let place = file.display();
        return Err(Error::new(format!(
            "{place} has a token with the name {name} already: choose another name, or revoke it first"
        )));
    }
    let secret = secret_file::generate_secret();
    let added = FileToken::new(name, roles, owner_id, &secret).to_line();
    replace(file, &(lines + &added))?;
    Ok(secret)
}

fn revoke(file: &Path, name: &str) -> Result<()> {
    let _lock = lock(file)?;
    let text = text(file)?;
    if !parse(file, &text)?.contains_name(name) {
        let place = file.display();
        return Err(Error::new(format!(
            "{place} has no token with the name {name}"
        )));
    }
    let is_other = |line: &&str| line.split_ascii_whitespace().next() != Some(name);
    let rest: String = text.split_inclusive('\n').filter(is_other).collect();
    replace(file, &rest)
}

/// Reads the lines of the file, and ends the last one. A missing file has none.
fn text(file: &Path) -> Result<String> {
    let read = secret_file::check_owner_only(file).and_then(|()| fs::read_to_string(file));
    match read {
        Ok(text) if text.is_empty() || text.ends_with('\n') => Ok(text),
        Ok(text) => Ok(text + "\n"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(problem(file, "cannot be read", error)),
    }
}

/// Parses the text of a file of tokens. The error names the file.
fn parse(file: &Path, text: &str) -> Result<FileTokens> {
    let failed =
        |error| Error::because(format!("{} is not as it should be", file.display()), error);
    FileTokens::parse_tokens(text).map_err(failed)
}

/// Locks the file against other commands. The lock is a separate file, because the tokens file is
/// replaced.
fn lock(file: &Path) -> Result<File> {
    let lock_file = secret_file::with_suffix(file, "lock");
    let locked = secret_file::open_or_create(&lock_file).and_then(|lock| {
        lock.lock()?;
        Ok(lock)
    });
    locked.map_err(|error| problem(&lock_file, "cannot be locked", error))
}

/// Replaces the file.
fn replace(file: &Path, text: &str) -> Result<()> {
    let replaced = secret_file::replace(file, text);
    replaced.map_err(|error| problem(file, "cannot be written", error))
}

/// Creates an error that names the file.
fn problem(file: &Path, what: &str, error: io::Error) -> Error {
    Error::because(format!("{} {what}", file.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_works_from_its_making_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        let alice = create(&file, "alice", &["staff".into()], None).unwrap();
        let bob = create(&file, "bob", &[], None).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            !text.contains(&alice) && !text.contains(&bob),
            "hashes only"
        );
        let tokens = FileTokens::read_file(&file).unwrap();
        assert!(
            tokens
                .find_caller(alice.as_bytes())
                .unwrap()
                .has_role("staff")
        );
        assert_eq!(tokens.find_caller(bob.as_bytes()).unwrap().name(), "bob");
        revoke(&file, "alice").unwrap();
        let tokens = FileTokens::read_file(&file).unwrap();
        assert_eq!(tokens.find_caller(alice.as_bytes()), None);
        assert!(tokens.find_caller(bob.as_bytes()).is_some());
    }

    #[test]
    fn a_name_belongs_to_one_token() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        create(&file, "alice", &[], None).unwrap();
        let error = create(&file, "alice", &[], None).unwrap_err().to_string();
        assert!(error.contains("revoke"), "{error}");
        assert!(revoke(&file, "bob").is_err());
    }

    #[test]
    fn tokens_made_at_the_same_time_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let file = &file;
                scope.spawn(move || create(file, &format!("t{number}"), &[], None).unwrap());
            }
        });
        let tokens = FileTokens::read_file(&file).unwrap();
        assert!((0..8).all(|number| tokens.contains_name(&format!("t{number}"))));
    }
}
