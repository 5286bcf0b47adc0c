//! The cipher of personal values: AES-256-GCM of `ring`, under one random key per person.
//!
//! Each value has a random nonce of 96 bits. NIST SP 800-38D allows 2^32 values under one key with random nonces;
//! a person who gets one value every second reaches that after 136 years.

use std::{fmt, io::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    error::Unspecified,
    rand::{SecureRandom as _, SystemRandom},
};

/// The length of a key, in bytes.
pub(crate) const KEY_LENGTH: usize = 32;

/// The key of one person.
pub(crate) struct PersonKey(LessSafeKey);

impl fmt::Debug for PersonKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PersonKey(…)")
    }
}

/// Fills an array with random bytes of the operating system.
pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], Unspecified> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes)?;
    Ok(bytes)
}

/// The place of a value. The cipher authenticates it, so that a value opens nowhere else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValuePlace<'a> {
    pub(crate) event_type: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) path: &'a str,
}

impl ValuePlace<'_> {
    /// Writes the associated data. Each part has its length before it, so that no other parts give the same bytes.
    fn write(self, bytes: &mut Vec<u8>) {
        for part in [self.event_type, self.subject, self.path] {
            // A vector takes all bytes.
            let _ = write!(bytes, "{}:", part.len());
            bytes.extend_from_slice(part.as_bytes());
        }
    }
}

/// The buffers of [`PersonKey::open`].
#[derive(Default)]
pub(crate) struct OpenBuffer {
    place: Vec<u8>,
    value: Vec<u8>,
}

impl PersonKey {
    /// Makes a key of its bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Unspecified> {
        Ok(Self(LessSafeKey::new(UnboundKey::new(
            &AES_256_GCM,
            bytes,
        )?)))
    }

    /// Encrypts bytes, and returns nonce, ciphertext and tag.
    pub(crate) fn seal_bytes(&self, bytes: &[u8], place: &[u8]) -> Result<Vec<u8>, Unspecified> {
        let nonce: [u8; NONCE_LEN] = random_bytes()?;
        let mut bytes = bytes.to_vec();
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0
            .seal_in_place_append_tag(unique, Aad::from(place), &mut bytes)?;
        Ok([nonce.as_slice(), &bytes].concat())
    }

    /// Decrypts what [`Self::seal_bytes`] returned for the same place, in its place.
    pub(crate) fn open_bytes<'b>(
        &self,
        sealed: &'b mut [u8],
        place: &[u8],
    ) -> Result<&'b [u8], Unspecified> {
        let (nonce, bytes) = sealed.split_at_mut_checked(NONCE_LEN).ok_or(Unspecified)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce)?;
        let opened = self.0.open_in_place(nonce, Aad::from(place), bytes)?;
        Ok(opened)
    }

    /// Encrypts a text for the JSON of an event.
    pub(crate) fn seal(&self, text: &str, place: ValuePlace<'_>) -> Result<String, Unspecified> {
        let mut data = Vec::new();
        place.write(&mut data);
        let sealed = self.seal_bytes(text.as_bytes(), &data)?;
        Ok(STANDARD_NO_PAD.encode(sealed))
    }

    /// Decrypts what [`Self::seal`] returned for the same place.
    pub(crate) fn open<'b>(
        &self,
        sealed: &str,
        place: ValuePlace<'_>,
        buffer: &'b mut OpenBuffer,
    ) -> Result<&'b str, Unspecified> {
        buffer.place.clear();
        place.write(&mut buffer.place);
        buffer.value.clear();
        STANDARD_NO_PAD
            .decode_vec(sealed, &mut buffer.value)
            .map_err(|_| Unspecified)?;
        let text = self.open_bytes(&mut buffer.value, &buffer.place)?;
        str::from_utf8(text).map_err(|_| Unspecified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: ValuePlace<'_> = ValuePlace {
        event_type: "com.example.ReaderRegisteredEvent",
        subject: "/readers/1",
        path: "/payload/name",
    };

    fn key() -> PersonKey {
        PersonKey::from_bytes(&random_bytes::<KEY_LENGTH>().unwrap()).unwrap()
    }

    fn open(key: &PersonKey, sealed: &str, place: ValuePlace<'_>) -> Result<String, Unspecified> {
        let mut buffer = OpenBuffer::default();
        key.open(sealed, place, &mut buffer).map(str::to_owned)
    }

    #[test]
    fn a_value_opens_in_its_place_under_its_key_alone() {
        let key = key();
        let sealed = key.seal("\"Ada\"", PLACE).unwrap();
        assert!(!sealed.contains("Ada"));
        assert_eq!(open(&key, &sealed, PLACE).unwrap(), "\"Ada\"");
        let elsewhere = [
            ValuePlace {
                event_type: "com.example.ReaderRenamedEvent",
                ..PLACE
            },
            ValuePlace {
                subject: "/readers/2",
                ..PLACE
            },
            ValuePlace {
                path: "/payload/phone",
                ..PLACE
            },
            // The same text in all, with other borders.
            ValuePlace {
                subject: "/readers/1/payload",
                path: "/name",
                ..PLACE
            },
        ];
        for place in elsewhere {
            assert!(open(&key, &sealed, place).is_err(), "{place:?}");
        }
        assert!(open(&super::tests::key(), &sealed, PLACE).is_err());
    }

    #[test]
    fn a_changed_value_does_not_open() {
        let key = key();
        let sealed = key.seal("\"Ada\"", PLACE).unwrap();
        for (index, character) in sealed.char_indices() {
            let other = if character == 'A' { "B" } else { "A" };
            let mut changed = sealed.clone();
            changed.replace_range(index..=index, other);
            // The last character has bits that no byte uses.
            assert!(
                changed == sealed || open(&key, &changed, PLACE).is_err(),
                "{index}"
            );
        }
        assert!(open(&key, "", PLACE).is_err());
        assert!(open(&key, "not base64!", PLACE).is_err());
    }

    #[test]
    fn two_values_of_one_text_look_different() {
        let key = key();
        assert_ne!(key.seal("1", PLACE).unwrap(), key.seal("1", PLACE).unwrap());
    }
}
