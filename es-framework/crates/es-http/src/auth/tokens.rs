//! The bearer tokens of callers. A file stores their hashes.
//!
//! Each line is a token: its name, its roles with commas between them or `-`, the SHA-256 of the token in hex, and
//! the owner id of its holder if there is one. A token has 244 random bits, so nobody can find the token of a hash by search, and
//! a slow hash as for passwords would only slow each request down.

use std::{collections::BTreeSet, fs, io, path::Path};

use es_event::{Error, Result, foreign_text::read_text};
use es_net::program_name;
use es_store::secret_file::check_owner_only;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

use super::VerifiedCaller;

/// Number of tokens in a file. Each request is compared with all of them.
const MAX_TOKENS: usize = 1_000;
/// Longest file of tokens, in bytes.
const MAX_FILE: u64 = 1024 * 1024;

/// The tokens of a file.
#[derive(Debug, Default)]
pub(super) struct FileTokens(Vec<FileToken>);

/// A line of the file: the name and the roles of a caller, and the hash of the token.
#[derive(Debug)]
pub(super) struct FileToken {
    pub(super) name: String,
    pub(super) roles: Vec<String>,
    hash: [u8; 32],
    owner_id: Option<String>,
}

/// The reason why a file of tokens cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileTokensError {
    #[error("{0}")]
    File(#[from] io::Error),
    #[error("it is larger than {MAX_FILE} bytes")]
    TooLarge,
    #[error("it holds more than {MAX_TOKENS} tokens")]
    TooMany,
    #[error(
        "line {0} is not a name, roles with commas between them, 64 hexadecimal digits, and perhaps an owner id: remove it, and make a token with `{program} token create`",
        program = program_name()
    )]
    Malformed(usize),
    #[error("line {0} has the name of another token: give each a name of its own")]
    Twice(usize),
    #[error("line {0} has the hash of another token: make a token for each name")]
    SameHash(usize),
}

impl FileTokens {
    /// Reads the tokens from a file that only its owner may use.
    pub(super) fn read_file(file: &Path) -> Result<Self> {
        let read = || {
            check_owner_only(file)?;
            if fs::metadata(file)?.len() > MAX_FILE {
                return Err(FileTokensError::TooLarge);
            }
            Self::parse_tokens(&read_text(file)?)
        };
        let problem = |error| {
            let file = file.display();
            Error::because(format!("the tokens in {file} cannot be used"), error)
        };
        read().map_err(problem)
    }

    /// Parses the text of a file of tokens.
    pub(super) fn parse_tokens(text: &str) -> Result<Self, FileTokensError> {
        let (mut names, mut hashes) = (BTreeSet::new(), BTreeSet::new());
        let mut tokens = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let token = FileToken::parse(line).ok_or(FileTokensError::Malformed(number))?;
            if !names.insert(token.name.clone()) {
                return Err(FileTokensError::Twice(number));
            }
            if !hashes.insert(token.hash) {
                return Err(FileTokensError::SameHash(number));
            }
            tokens.push(token);
        }
        if tokens.len() > MAX_TOKENS {
            return Err(FileTokensError::TooMany);
        }
        Ok(Self(tokens))
    }

    /// Returns the caller that a token belongs to. It compares with all tokens in constant time, so
    /// that the response time does not help to guess one.
    pub(super) fn find_caller(&self, credential: &[u8]) -> Option<VerifiedCaller> {
        self.find_caller_by_hash(&Sha256::digest(credential).into())
    }

    pub(super) fn find_caller_by_hash(&self, hash: &[u8; 32]) -> Option<VerifiedCaller> {
        let mut found = u32::MAX;
        for (token, index) in self.0.iter().zip(0_u32..) {
            let same: Choice = token.hash.ct_eq(hash);
            found.conditional_assign(&index, same);
        }
        let token = self.0.get(usize::try_from(found).ok()?)?;
        Some(VerifiedCaller::new(
            &token.name,
            token.roles.iter().map(String::as_str),
            token.owner_id.as_deref(),
        ))
    }

    /// Returns the roles of all tokens.
    pub(super) fn known_roles(&self) -> BTreeSet<String> {
        let roles = self.0.iter().flat_map(|token| &token.roles);
        roles.cloned().collect()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains_name(&self, name: &str) -> bool {
        self.0.iter().any(|token| token.name == name)
    }
}

impl FileToken {
    pub(super) fn new(name: &str, roles: &[String], owner_id: Option<&str>, secret: &str) -> Self {
        Self {
            name: name.to_owned(),
            roles: roles.to_vec(),
            hash: Sha256::digest(secret).into(),
            owner_id: owner_id.map(str::to_owned),
        }
    }

    /// Parses a line: name, roles, hash and owner id.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split_ascii_whitespace();
        let (name, roles, hash) = (parts.next()?, parts.next()?, parts.next()?);
        let roles: Vec<_> = match roles {
            "-" => Vec::new(),
            roles => roles.split(',').map(str::to_owned).collect(),
        };
        let owner_id = parts.next();
        let fits = parts.next().is_none()
            && owner_id.is_none_or(is_valid_subject)
            && is_valid_name(name)
            && roles.iter().all(|one| is_valid_name(one));
        fits.then_some(Self {
            name: name.to_owned(),
            roles,
            hash: from_hex(hash)?,
            owner_id: owner_id.map(str::to_owned),
        })
    }

    /// Returns the line of the token in the file.
    pub(super) fn to_line(&self) -> String {
        let hash = es_event::hex(&self.hash);
        let roles = match self.roles.as_slice() {
            [] => "-".to_owned(),
            roles => roles.join(","),
        };
        let owner_id = self.owner_id.as_ref().map(|id| format!(" {id}"));
        format!(
            "{} {roles} {hash}{}\n",
            self.name,
            owner_id.unwrap_or_default()
        )
    }
}

/// Returns whether a text can name a token or a role.
pub(super) fn is_valid_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@-".contains(&byte);
    (1..=64).contains(&text.len()) && text != "-" && text.bytes().all(fits)
}

/// Longest subject of a JWT (OpenID Connect Core 1.0, section 2).
const MAX_SUBJECT: usize = 255;

/// Returns whether a text can be the subject of a JWT, or an owner id, which is one by default.
pub(super) fn is_valid_subject(text: &str) -> bool {
    (1..=MAX_SUBJECT).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn from_hex(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, digits) in hash.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> FileTokens {
        let staff = FileToken::new(
            "alice",
            &["staff".into(), "reader".into()],
            None,
            "secret-a",
        );
        let nobody = FileToken::new("probe", &[], None, "secret-b");
        let text = format!("# who may call\n\n{}{}", staff.to_line(), nobody.to_line());
        FileTokens::parse_tokens(&text).unwrap()
    }

    #[test]
    fn a_token_says_who_calls_and_what_they_may_do() {
        let alice = tokens().find_caller(b"secret-a").unwrap();
        assert_eq!(alice.name(), "alice");
        assert!(alice.has_role("staff") && alice.has_role("reader") && !alice.has_role("sta"));
        let probe = tokens().find_caller(b"secret-b").unwrap();
        assert!(!probe.has_role("staff") && !probe.has_role("-"));
    }

    #[test]
    fn a_token_may_have_an_owner_id() {
        let id = "0B6EF6A3-7D0E-4F5C-9A63-6A1B6D2F8C55";
        let line = FileToken::new("ada", &["reader".into()], Some(id), "secret").to_line();
        let ada = FileTokens::parse_tokens(&line)
            .unwrap()
            .find_caller(b"secret");
        let ada = ada.unwrap();
        assert_eq!(ada.owner_id(), Some("0b6ef6a3-7d0e-4f5c-9a63-6a1b6d2f8c55"));
        assert_eq!(tokens().find_caller(b"secret-a").unwrap().owner_id(), None);
        assert!(FileTokens::parse_tokens(&line.replace('\n', " more")).is_err());
    }

    #[test]
    fn what_is_only_like_a_token_is_none() {
        for guess in [
            "",
            "secret",
            "secret-",
            "secret-a ",
            "Secret-a",
            "alice",
            "-",
        ] {
            assert_eq!(tokens().find_caller(guess.as_bytes()), None, "{guess}");
        }
        assert_eq!(FileTokens::default().find_caller(b""), None);
    }

    #[test]
    fn a_line_that_makes_no_sense_is_named() {
        let hash = "0".repeat(64);
        for line in [
            "alice staff".to_owned(),
            format!("alice staff {hash} owner more"),
            format!("alice staff {hash} \u{e7}"),
            format!("alice staff,, {hash}"),
            format!("alice staff {}", "x".repeat(64)),
            format!("alice staff {}", "0".repeat(63)),
            format!("ali\u{e7}e staff {hash}"),
            format!("- staff {hash}"),
        ] {
            let error = FileTokens::parse_tokens(&format!("# one\n{line}\n")).unwrap_err();
            assert!(error.to_string().contains("line 2"), "{line}: {error}");
        }
        let twice = format!("a - {hash}\na - {hash}\n");
        assert!(matches!(
            FileTokens::parse_tokens(&twice),
            Err(FileTokensError::Twice(2))
        ));
        // A caller would be one or the other, depending on the order of the lines.
        let same = format!("a - {hash}\nb staff {hash}\n");
        assert!(matches!(
            FileTokens::parse_tokens(&same),
            Err(FileTokensError::SameHash(2))
        ));
    }

    #[test]
    fn a_file_that_others_may_read_is_refused_with_what_to_do() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let error = FileTokens::read_file(&file).unwrap_err().to_string();
        assert!(
            error.contains("640") && error.contains("chmod 600"),
            "{error}"
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(FileTokens::read_file(&file).unwrap().is_empty());
    }
}
