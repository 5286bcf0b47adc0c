//! The form of hashes in the database: 32 bytes in version 1, and a last byte with the version since
//! version 2. A file of format 4 has hashes of version 1 only.

use rusqlite::types::{ToSql, ToSqlOutput};

use es_event::{Hash, HashVersion};

/// The byte after a hash of version 2.
const VERSION_2: u8 = 2;

/// A hash in the form of the database.
pub(super) struct StoredHash<'a>(pub(super) &'a Hash);

impl ToSql for StoredHash<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let digest = self.0.as_bytes();
        Ok(match self.0.version() {
            HashVersion::V1 => ToSqlOutput::from(digest.as_slice()),
            HashVersion::V2 => {
                let bytes = digest.iter().copied().chain([VERSION_2]);
                ToSqlOutput::from(bytes.collect::<Vec<_>>())
            }
        })
    }
}

/// Parses a hash of the database. Returns `None` if the bytes are no hash.
pub(super) fn parse(bytes: &[u8]) -> Option<Hash> {
    if let Ok(digest) = bytes.try_into() {
        return Some(Hash::from_bytes(digest));
    }
    let (version, digest) = bytes.split_last()?;
    let digest = digest.try_into().ok()?;
    (*version == VERSION_2).then(|| Hash::new(HashVersion::V2, digest))
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    #[test]
    fn a_stored_hash_reads_back_with_its_version() {
        for version in [HashVersion::V1, HashVersion::V2] {
            let hash = Hash::new(version, [7; 32]);
            let stored = match StoredHash(&hash).to_sql().unwrap() {
                ToSqlOutput::Owned(Value::Blob(bytes)) => bytes,
                ToSqlOutput::Borrowed(bytes) => bytes.as_blob().unwrap().to_vec(),
                other => panic!("{other:?}"),
            };
            assert_eq!(parse(&stored), Some(hash));
        }
        for broken in [&[][..], &[2; 31], &[3; 33], &[2; 34]] {
            assert_eq!(parse(broken), None);
        }
    }
}
