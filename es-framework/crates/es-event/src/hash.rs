//! The hash chain: the hash of each event covers the hash of its predecessor.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use sha2::{Digest, Sha256};

/// A SHA-256 hash, 64 lowercase hexadecimal digits on the wire.
///
/// ```
/// use es_framework::event::Hash;
///
/// assert_eq!(Hash::ZERO.to_string(), "0".repeat(64));
/// let hash = Hash::from_bytes([0xab; 32]);
/// assert_eq!(hash.to_string().parse::<Hash>()?, hash);
/// # Ok::<_, es_framework::event::InvalidHash>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; 32]);

/// The members of an event that its hash covers, without the data.
///
/// ```
/// use es_framework::event::{Hash, HashedMetadata};
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
/// };
/// let second = HashedMetadata { id: 1, ..first };
/// assert_ne!(Hash::of_event(&first, b"{}"), Hash::of_event(&second, b"{}"));
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
}

impl Hash {
    /// The predecessor hash of the first event.
    pub const ZERO: Self = Self([0; 32]);

    /// Computes the hash of an event: hashes metadata and data separately, then hashes the two
    /// hexadecimal strings together. `data` is the exact JSON text that clients receive.
    #[must_use]
    pub fn of_event(metadata: &HashedMetadata<'_>, data: &[u8]) -> Self {
        let HashedMetadata {
            specversion,
            id,
            predecessor,
            time,
            source,
            subject,
            event_type,
            data_content_type,
        } = metadata;
        let mut hasher = Sha256::new();
        let number = decimal_digits(*id);
        hasher.update(specversion);
        hasher.update("|");
        hasher.update(number.text());
        hasher.update("|");
        hasher.update(predecessor.hex());
        for part in [time, source, subject, event_type, data_content_type] {
            hasher.update("|");
            hasher.update(part);
        }
        let metadata = Self(hasher.finalize().into());
        let data = Self(Sha256::digest(data).into());
        let both = Sha256::new()
            .chain_update(metadata.hex())
            .chain_update(data.hex());
        Self(both.finalize().into())
    }

    /// Returns the bytes of the hash.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Creates a hash from its bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 64 hexadecimal digits.
    #[must_use]
    pub fn hex(&self) -> [u8; 64] {
        // The compiler vectorizes this computation, which is faster than a lookup table. Every
        // event that is sent contains two hashes.
        const fn digit(nibble: u8) -> u8 {
            let letter = if nibble > 9 { b'a' - b'0' - 10 } else { 0 };
            nibble.wrapping_add(b'0').wrapping_add(letter)
        }
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
        }
        hex
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
    pub(super) fn text(&self) -> &[u8] {
        self.digits.get(self.start..).unwrap_or_default()
    }
}

/// The error for a string that is not a hash.
///
/// ```
/// use es_framework::event::{Hash, InvalidHash};
///
/// assert_eq!("AB".repeat(32).parse::<Hash>(), Err(InvalidHash)); // capitals
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 64 lowercase hexadecimal digits")]
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
        Ok(Self(bytes))
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_vector_of_the_audit_specification_is_met() {
        let hash = Hash::of_event(
            &HashedMetadata {
                specversion: "1",
                id: 0,
                predecessor: Hash::ZERO,
                time: "2023-01-02T13:37:00.0001Z",
                source: "tag:thenativeweb.io,2023:test",
                subject: "/users/anne",
                event_type: "io.thenativeweb.test.registered",
                data_content_type: "application/json",
            },
            br#"{"username":"anne"}"#,
        );
        let published = "b6ae7a219468eeb110cf20151d9a8dc091ed40390a1411e36c183bf6a804900f";
        assert_eq!(hash.to_string(), published);
    }

    #[test]
    fn a_hash_reads_back_as_it_was_written() {
        let hash = Hash(std::array::from_fn(|index| {
            u8::try_from(index * 7 % 256).unwrap()
        }));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let last = format!("{}g", "0".repeat(63));
        let wide = format!("{}é", "0".repeat(62));
        for invalid in ["", "00", &"G".repeat(64), &"A".repeat(64), &last, &wide] {
            assert!(invalid.parse::<Hash>().is_err(), "{invalid}");
        }
    }

    #[test]
    fn numbers_are_written_in_decimal() {
        for number in [0, 9, 10, 1_234_567_890, u64::MAX] {
            assert_eq!(decimal_digits(number).text(), number.to_string().as_bytes());
        }
    }
}
