//! Subjects as the index has them. Most hold a UUID, which is 36 bytes as text and 17 here: that
//! is a third of the index, and a third of what each merge writes.

use uuid::Uuid;

/// A subject in the index.
pub(super) type Key = Box<[u8]>;

/// Stands before the bytes of a UUID; no subject has this byte.
const UUID_MARK: u8 = 1;

/// Packs each segment for itself, so that what lies below a subject still has its key as a prefix.
pub(super) fn pack(subject: &str) -> Key {
    let mut key = Vec::with_capacity(subject.len());
    let mut segments = subject.split('/');
    push(&mut key, segments.next().unwrap_or_default());
    for segment in segments {
        key.push(b'/');
        push(&mut key, segment);
    }
    key.into_boxed_slice()
}

fn push(key: &mut Vec<u8>, segment: &str) {
    match uuid(segment) {
        Some(uuid) => {
            key.push(UUID_MARK);
            key.extend_from_slice(uuid.as_bytes());
        }
        None => key.extend_from_slice(segment.as_bytes()),
    }
}

/// The subject of a key; `None` for bytes that [`pack`] never gives.
pub(super) fn unpack(mut key: &[u8]) -> Option<String> {
    let mut subject = String::with_capacity(key.len().saturating_mul(2));
    loop {
        if let Some((bytes, rest)) = key
            .strip_prefix(&[UUID_MARK])
            .and_then(<[u8]>::split_first_chunk)
        {
            let uuid = Uuid::from_bytes(*bytes);
            subject.push_str(uuid.hyphenated().encode_lower(&mut Uuid::encode_buffer()));
            key = rest;
        }
        let end = key.iter().position(|byte| *byte == b'/');
        let (text, rest) = key.split_at(end.unwrap_or(key.len()));
        subject.push_str(std::str::from_utf8(text).ok()?);
        let Some(rest) = rest.strip_prefix(b"/") else {
            return Some(subject);
        };
        subject.push('/');
        key = rest;
    }
}

/// A UUID in its one usual form: two texts must never have the same key.
fn uuid(segment: &str) -> Option<Uuid> {
    let is_usual = segment.len() == 36 && !segment.bytes().any(|byte| byte.is_ascii_uppercase());
    is_usual.then(|| Uuid::try_parse(segment).ok()).flatten()
}

/// A subject and all below it as a range of keys.
#[derive(Debug, Clone)]
pub(super) struct Family {
    /// The subject, without a slash at its end.
    text: Box<str>,
    pub(super) itself: Key,
    /// The least key below it.
    pub(super) below_from: Key,
    /// The least key after those; `0` comes right after `/`.
    pub(super) below_to: Key,
}

impl Family {
    pub(super) fn of(subject: &str) -> Self {
        let text = subject.trim_end_matches('/');
        let itself = pack(text);
        let followed_by = |end: &[u8]| [&itself, end].concat().into();
        Self {
            text: text.into(),
            below_from: followed_by(b"/"),
            below_to: followed_by(b"0"),
            itself,
        }
    }

    pub(super) fn is_everything(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn has(&self, subject: &str) -> bool {
        match subject.strip_prefix(&*self.text) {
            Some(rest) => rest.is_empty() || rest.starts_with('/') || self.is_everything(),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_uuid_in_its_usual_form_is_packed() {
        let uuid = "0199a3c2-7d4e-7c3a-9f00-0123456789ab";
        assert_eq!(pack(&format!("/books/{uuid}")).len(), 7 + 17);
        assert_eq!(
            pack(&format!("/books/{uuid}/pages/{uuid}")).len(),
            7 + 17 + 7 + 17
        );
        for text in [
            "/",
            "/books/",
            "/books/0199A3C2-7D4E-7C3A-9F00-0123456789AB",
            "/books/0199a3c27d4e7c3a9f000123456789ab",
            "/books/0199a3c2-7d4e-7c3a-9f00-0123456789ag",
            "/books/0199a3c2-7d4e-7c3a-9f000-123456789ab",
        ] {
            assert_eq!(&*pack(text), text.as_bytes());
        }
    }

    #[test]
    fn a_key_gives_its_subject_back() {
        // The bytes of this one hold slashes.
        let uuid = "2f2f2f2f-2f2f-2f2f-2f2f-2f2f2f2f2f2f";
        for subject in [
            "/".to_owned(),
            "/a".to_owned(),
            "/a/".to_owned(),
            format!("/{uuid}"),
            format!("/a/{uuid}/b/{uuid}/"),
        ] {
            assert_eq!(unpack(&pack(&subject)), Some(subject));
        }
        assert_eq!(unpack(b"/\xff"), None);
    }

    #[test]
    fn a_family_is_a_range_of_keys() {
        let uuid = "0199a3c2-7d4e-7c3a-9f00-0123456789ab";
        let family = Family::of(&format!("/books/{uuid}"));
        for (below, is_below) in [
            (format!("/books/{uuid}/pages"), true),
            (format!("/books/{uuid}/{uuid}"), true),
            (format!("/books/{uuid}/"), true),
            (format!("/books/{uuid}0"), false),
            ("/books".to_owned(), false),
        ] {
            let key = pack(&below);
            assert_eq!(
                family.below_from <= key && key < family.below_to,
                is_below,
                "{below}"
            );
            assert_eq!(family.has(&below), is_below, "{below}");
        }
    }
}
