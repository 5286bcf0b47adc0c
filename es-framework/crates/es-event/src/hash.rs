//! The hash chain: the hash of each event covers the hash of its predecessor.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::{HashVersion, text_visitor::deserialize_text};

/// A SHA-256 hash and the version of its computation. On the wire it is 64 lowercase hexadecimal
/// digits, with a prefix from version 2 on.
///
/// ```
/// use es_event::{Hash, HashVersion};
///
/// assert_eq!(Hash::ZERO.to_string(), "0".repeat(64));
/// let hash = Hash::new(HashVersion::V2, [0xab; 32]);
/// assert_eq!(hash.to_string(), format!("esdb:hash:v2:{}", "ab".repeat(32)));
/// assert_eq!(hash.to_string().parse::<Hash>()?, hash);
/// # Ok::<_, es_event::InvalidHash>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash {
    version: HashVersion,
    digest: [u8; 32],
}

/// The members of an event that its hash covers, without the data.
///
/// ```
/// use es_event::{Hash, HashVersion, HashedMetadata};
///
/// let first = HashedMetadata {
///     specversion: "1.0",
///     id: 0,
///     predecessor: Hash::ZERO,
///     time: "2026-07-01T12:00:00.000000000Z",
///     source: "library-service",
///     subject: "/books/42",
///     event_type: "com.example.library.BookPurchasedEvent",
///     data_content_type: "application/json",
///     traceparent: None,
///     tracestate: None,
/// };
/// let second = HashedMetadata { id: 1, ..first };
/// let hash = |metadata| Hash::of_event(HashVersion::V1, metadata, b"{}");
/// assert_ne!(hash(&first), hash(&second));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HashedMetadata<'a> {
    /// The CloudEvents version.
    pub specversion: &'a str,
    /// The event's id.
    pub id: u64,
    /// The hash of the preceding event.
    pub predecessor: Hash,
    /// The exact time string.
    pub time: &'a str,
    /// The application or URI that published the event.
    pub source: &'a str,
    /// The subject of the event.
    pub subject: &'a str,
    /// The type of the event.
    pub event_type: &'a str,
    /// The media type of the data.
    pub data_content_type: &'a str,
    /// The `traceparent`. Only version 2 covers it.
    pub traceparent: Option<&'a str>,
    /// The `tracestate`. Only version 2 covers it.
    pub tracestate: Option<&'a str>,
}

impl Hash {
    /// The predecessor hash of the first event. It has no prefix in any version.
    pub const ZERO: Self = Self::new(HashVersion::V1, [0; 32]);

    /// Creates a hash of a version from its bytes.
    #[must_use]
    pub const fn new(version: HashVersion, digest: [u8; 32]) -> Self {
        Self { version, digest }
    }

    /// Creates a hash of version 1 from its bytes.
    #[must_use]
    pub const fn from_bytes(digest: [u8; 32]) -> Self {
        Self::new(HashVersion::V1, digest)
    }

    /// Returns the bytes of the hash without its version.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Returns the version by which the hash was computed.
    #[must_use]
    pub const fn version(&self) -> HashVersion {
        self.version
    }

    /// Computes the hash of an event in a version. `data` is the exact JSON text that clients receive.
    #[must_use]
    pub fn of_event(version: HashVersion, metadata: &HashedMetadata<'_>, data: &[u8]) -> Self {
        let digest = match version {
            HashVersion::V1 => digest_v1(metadata, data),
            HashVersion::V2 => digest_v2(metadata, data),
        };
        Self::new(version, digest)
    }

    /// Appends the hash as text to `out`, with the prefix of its version.
    pub fn encode_into(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.version.prefix().as_bytes());
        out.extend_from_slice(&self.hex());
    }

    /// Returns the 64 hexadecimal digits without the prefix of the version.
    fn hex(&self) -> [u8; 64] {
        // The compiler vectorizes this computation, which is faster than a lookup table. Every
        // event that is sent contains two hashes.
        const fn digit(nibble: u8) -> u8 {
            let letter = if nibble > 9 { b'a' - b'0' - 10 } else { 0 };
            nibble.wrapping_add(b'0').wrapping_add(letter)
        }
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.digest) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
        }
        hex
    }
}

/// Hashes metadata and data separately, then hashes the two hexadecimal strings together.
fn digest_v1(metadata: &HashedMetadata<'_>, data: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    update_position(&mut hasher, metadata, "|");
    for part in metadata.texts() {
        hasher.update("|");
        hasher.update(part);
    }
    let metadata = Hash::from_bytes(hasher.finalize().into());
    let data = Hash::from_bytes(Sha256::digest(data).into());
    let both = Sha256::new()
        .chain_update(metadata.hex())
        .chain_update(data.hex());
    both.finalize().into()
}

/// Hashes the prefix of the version, all members and the data, each on a line of its own.
fn digest_v2(metadata: &HashedMetadata<'_>, data: &[u8]) -> [u8; 32] {
    const MISSING: &str = "-";
    let mut hasher = Sha256::new();
    hasher.update(HashVersion::V2.prefix());
    hasher.update("\n");
    update_position(&mut hasher, metadata, "\n");
    let traceparent = metadata.traceparent.unwrap_or(MISSING);
    let tracestate = metadata.tracestate.unwrap_or(MISSING);
    for part in metadata
        .texts()
        .into_iter()
        .chain([traceparent, tracestate])
    {
        hasher.update("\n");
        hasher.update(part);
    }
    hasher.update("\n");
    hasher.update(data);
    hasher.finalize().into()
}

/// Adds the members with which both versions begin: CloudEvents version, id and predecessor hash.
fn update_position(hasher: &mut Sha256, metadata: &HashedMetadata<'_>, separator: &str) {
    hasher.update(metadata.specversion);
    hasher.update(separator);
    hasher.update(decimal_digits(metadata.id).as_bytes());
    hasher.update(separator);
    hasher.update(metadata.predecessor.version.prefix());
    hasher.update(metadata.predecessor.hex());
}

impl<'a> HashedMetadata<'a> {
    /// The members that follow the predecessor hash, in order. Both versions cover them.
    const fn texts(&self) -> [&'a str; 5] {
        [
            self.time,
            self.source,
            self.subject,
            self.event_type,
            self.data_content_type,
        ]
    }
}

/// The decimal digits of a number, written without an allocation: each recorded event needs one.
pub(super) struct DecimalDigits {
    digits: [u8; 20],
    start: usize,
}

pub(super) fn decimal_digits(mut number: u64) -> DecimalDigits {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    for (index, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' | u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        start = index;
        if number == 0 {
            break;
        }
    }
    DecimalDigits { digits, start }
}

impl DecimalDigits {
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.digits.get(self.start..).unwrap_or_default()
    }
}

/// The error for a string that is not a hash.
///
/// ```
/// use es_event::{Hash, InvalidHash};
///
/// assert_eq!("AB".repeat(32).parse::<Hash>(), Err(InvalidHash)); // capitals
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 lowercase hexadecimal digits, after `esdb:hash:v2:` in version 2")]
pub struct InvalidHash;

/// A bit that is set for bytes that are not hexadecimal digits.
const NO_DIGIT: u8 = 0x80;
/// Maps each byte to its value as a hexadecimal digit.
#[allow(clippy::indexing_slicing)]
const DIGITS: [u8; 256] = {
    let digits = b"0123456789abcdef";
    let mut table = [NO_DIGIT; 256];
    let mut value = 0_u8;
    while value < 16 {
        table[digits[value as usize] as usize] = value;
        value = value.saturating_add(1);
    }
    table
};

impl std::str::FromStr for Hash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        let (version, text) = HashVersion::split_prefix(text);
        if text.len() != 64 {
            return Err(InvalidHash);
        }
        // One check after the loop replaces a branch for each digit. Every event that is read
        // contains two hashes.
        let digit = |byte: u8| DIGITS.get(usize::from(byte)).copied().unwrap_or(NO_DIGIT);
        let (mut bytes, mut seen) = ([0; 32], 0);
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            let [high, low] = pair else {
                return Err(InvalidHash);
            };
            let (high, low) = (digit(*high), digit(*low));
            seen |= high | low;
            *byte = (high << 4) | (low & 0xf);
        }
        if seen & NO_DIGIT != 0 {
            return Err(InvalidHash);
        }
        Ok(Self::new(version, bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.version.prefix())?;
        f.write_str(std::str::from_utf8(&self.hex()).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer)
    }
}

#[cfg(test)]
mod tests;
