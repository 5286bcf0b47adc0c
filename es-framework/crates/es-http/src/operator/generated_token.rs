//! The API token of the embedded event store, or the token of operators beside PostgreSQL. It is generated
//! once and stored beside the data.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use es_event::{Error, Result};
use es_net::Secret;
use es_store::secret_file;

const FILE: &str = "api-token";

/// Returns the token in a folder with its file. Generates the token if there is none.
fn load_or_generate(folder: &Path) -> Result<(Secret, PathBuf)> {
    let file = folder.join(FILE);
    let readable = match file.try_exists() {
        Ok(true) => secret_file::check_owner_only(&file),
        _ => Ok(()),
    };
    readable.map_err(|error| problem(&file, "cannot be used", error))?;
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            generate(&file).map_err(|error| problem(&file, "cannot be written", error))?
        }
        Err(error) => return Err(problem(&file, "cannot be read", error)),
    };
    let secret = text.trim().parse().map_err(|error| {
        Error::because(
            format!(
                "the API token in {} is not valid; delete the file to have a new one generated",
                file.display()
            ),
            error,
        )
    })?;
    Ok((secret, file))
}

/// Returns the token of the settings, or the generated one of a folder, whose file the log names.
#[doc(hidden)]
pub fn resolve_token(token: Option<&Secret>, folder: &Path) -> Result<Secret> {
    if let Some(token) = token {
        return Ok(token.clone());
    }
    let (token, file) = load_or_generate(folder)?;
    tracing::info!("the event store's API token is in {}", file.display());
    Ok(token)
}

/// Returns the token in a folder, if there is one.
#[cfg(any(feature = "client", test))]
pub(super) fn find_existing(folder: &Path) -> Result<Option<Secret>> {
    match folder.join(FILE).try_exists() {
        Ok(true) => load_or_generate(folder).map(|(token, _)| Some(token)),
        Ok(false) | Err(_) => Ok(None),
    }
}

fn problem(file: &Path, what: &str, error: io::Error) -> Error {
    Error::because(format!("the API token {} {what}", file.display()), error)
}

fn generate(file: &Path) -> io::Result<String> {
    let token = secret_file::generate_secret();
    secret_file::replace(file, &format!("{token}\n"))?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let (first, file) = load_or_generate(folder.path()).unwrap();
        let (second, _) = load_or_generate(folder.path()).unwrap();
        assert_eq!(first, second);
        assert_eq!(first.reveal().len(), 64);
        assert_eq!(
            fs::metadata(file).unwrap().permissions().mode() & 0o777,
            0o600
        );
    }

    #[test]
    fn a_token_that_others_can_read_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let (_, file) = load_or_generate(folder.path()).unwrap();
        for mode in [0o644, 0o640, 0o602] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            for error in [
                load_or_generate(folder.path()).unwrap_err(),
                find_existing(folder.path()).unwrap_err(),
            ] {
                let error = error.to_string();
                assert!(error.contains("chmod 600"), "{error}");
            }
        }
    }

    #[test]
    fn an_empty_token_file_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        secret_file::replace(&folder.path().join(FILE), "\n").unwrap();
        let error = load_or_generate(folder.path()).unwrap_err();
        assert!(error.to_string().contains("delete the file"), "{error}");
    }
}
