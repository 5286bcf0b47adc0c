//! The form of hashes in the database: 32 bytes in version 1, and a last byte with the version since
//! version 2.

use es_event::{Hash, HashVersion};

/// The byte after a hash of version 2.
const VERSION_2: u8 = 2;

/// Returns a hash in the form of the database.
pub fn hash_bytes(hash: &Hash) -> Vec<u8> {
    let version = match hash.version() {
        HashVersion::V1 => None,
        HashVersion::V2 => Some(VERSION_2),
    };
    hash.as_bytes().iter().copied().chain(version).collect()
}

/// Parses a hash of the database. Returns `None` if the bytes are no hash.
pub fn parse_hash(bytes: &[u8]) -> Option<Hash> {
    if let Ok(digest) = bytes.try_into() {
        return Some(Hash::from_bytes(digest));
    }
    let (version, digest) = bytes.split_last()?;
    let digest = digest.try_into().ok()?;
    (*version == VERSION_2).then(|| Hash::new(HashVersion::V2, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_hash_reads_back_with_its_version() {
        for version in [HashVersion::V1, HashVersion::V2] {
            let hash = Hash::new(version, [7; 32]);
            let stored = hash_bytes(&hash);
            assert_eq!(parse_hash(&stored), Some(hash));
        }
        for broken in [&[][..], &[2; 31], &[3; 33], &[2; 34]] {
            assert_eq!(parse_hash(broken), None);
        }
    }
}
