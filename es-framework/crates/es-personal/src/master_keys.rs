//! Master keys from a file, which wrap the keys in the key store. The first one of the file wraps, and all unwrap.

use std::{fmt, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use es_event::foreign_text;
use es_store::secret_file;
use ring::error::Unspecified;
use uuid::Uuid;

use crate::{
    cipher::{KEY_LENGTH, PersonKey},
    key_store::KeyStoreError,
};

/// The master keys, the current one first.
#[doc(hidden)]
pub struct MasterKeys {
    current: PersonKey,
    earlier: Vec<PersonKey>,
}

impl fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKeys(…)")
    }
}

impl MasterKeys {
    /// Reads a file with a key per line: 32 bytes in base64, as `openssl rand -base64 32` prints them.
    pub fn load(file: &Path) -> Result<Self, KeyStoreError> {
        let failed = |error: &dyn fmt::Display| {
            KeyStoreError(format!(
                "KEY_STORE_MASTER_KEY_FILE {}: {error}",
                file.display()
            ))
        };
        secret_file::check_owner_only(file).map_err(|error| failed(&error))?;
        let text = foreign_text::read_text(file).map_err(|error| failed(&error))?;
        Self::parse(&text).map_err(|Unspecified| {
            failed(&"write a key on each line, 32 bytes in base64 as `openssl rand -base64 32` prints them")
        })
    }

    fn parse(text: &str) -> Result<Self, Unspecified> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let mut keys = lines.map(|line| {
            let bytes = STANDARD.decode(line).map_err(|_| Unspecified)?;
            PersonKey::from_bytes(&bytes)
        });
        let current = keys.next().ok_or(Unspecified)??;
        let earlier = keys.collect::<Result<_, _>>()?;
        Ok(Self { current, earlier })
    }

    /// Returns the error for wrapped keys without a master key.
    pub(crate) fn missing() -> KeyStoreError {
        KeyStoreError("its keys are wrapped: set KEY_STORE_MASTER_KEY_FILE".to_owned())
    }

    /// Wraps the key of a person.
    pub(crate) fn wrap(&self, person: Uuid, key: &[u8]) -> Result<Vec<u8>, Unspecified> {
        self.current.seal_bytes(key, person.as_bytes())
    }

    /// Returns the key of a person. A key that has its bare length is not wrapped.
    pub(crate) fn unwrap_key(
        master: Option<&Self>,
        person: Uuid,
        stored: &[u8],
    ) -> Result<Vec<u8>, KeyStoreError> {
        if stored.len() == KEY_LENGTH {
            return Ok(stored.to_vec());
        }
        let master = master.ok_or_else(Self::missing)?;
        let mut keys = std::iter::once(&master.current).chain(&master.earlier);
        let opened = keys.find_map(|key| unwrap_with(key, person, stored).ok());
        opened.ok_or_else(|| {
            KeyStoreError(format!("no key in KEY_STORE_MASTER_KEY_FILE unwraps the key of {person}: add the master key with which another start wrapped it, or restore the key if it is damaged, and start again"))
        })
    }

    /// Returns the key wrapped by the current master key, or `None` if it is.
    pub(crate) fn rewrap(
        &self,
        person: Uuid,
        stored: &[u8],
    ) -> Result<Option<Vec<u8>>, KeyStoreError> {
        if unwrap_with(&self.current, person, stored).is_ok() {
            return Ok(None);
        }
        let key = Self::unwrap_key(Some(self), person, stored)?;
        let wrapped = self.wrap(person, &key);
        wrapped
            .map(Some)
            .map_err(|_| KeyStoreError("the cipher failed".to_owned()))
    }
}

fn unwrap_with(master: &PersonKey, person: Uuid, stored: &[u8]) -> Result<Vec<u8>, Unspecified> {
    let mut stored = stored.to_vec();
    let key = master.open_bytes(&mut stored, person.as_bytes())?;
    Ok(key.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: Uuid = Uuid::from_u128(1);

    fn line(byte: u8) -> String {
        STANDARD.encode([byte; KEY_LENGTH])
    }

    #[test]
    fn a_rotated_master_key_unwraps_and_wraps_again() {
        let old = MasterKeys::parse(&line(1)).unwrap();
        let wrapped = old.wrap(ADA, &[7; KEY_LENGTH]).unwrap();
        let both = MasterKeys::parse(&format!("{}\n{}\n", line(2), line(1))).unwrap();
        let again = both.rewrap(ADA, &wrapped).unwrap().unwrap();
        let new = MasterKeys::parse(&line(2)).unwrap();
        assert_eq!(
            MasterKeys::unwrap_key(Some(&new), ADA, &again).unwrap(),
            [7; KEY_LENGTH]
        );
        assert!(MasterKeys::unwrap_key(Some(&new), ADA, &wrapped).is_err());
        assert!(MasterKeys::unwrap_key(None, ADA, &again).is_err());
        assert_eq!(new.rewrap(ADA, &again).unwrap(), None);
    }

    #[test]
    fn a_wrapped_key_belongs_to_one_person() {
        let master = MasterKeys::parse(&line(1)).unwrap();
        let wrapped = master.wrap(ADA, &[7; KEY_LENGTH]).unwrap();
        assert!(MasterKeys::unwrap_key(Some(&master), Uuid::nil(), &wrapped).is_err());
    }

    #[test]
    fn a_file_has_whole_keys() {
        for text in ["", "c2hvcnQ=", "not base64"] {
            assert!(MasterKeys::parse(text).is_err(), "{text}");
        }
    }
}
