//! The keys of the index. A key names a list of events: those of a subject, those below a subject,
//! or those of an event type.

use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use es_event::RecordedEvent;

/// A key of the index.
///
/// The key of a subject starts with a slash and holds the subject itself, so that the subjects can
/// be listed. The other keys start with a mark that no subject has, followed by a hash: an event
/// has one of them for each level of its subject, so they must be short. A reader of such a key
/// compares the texts of the events, so a collision costs only time.
pub(crate) type IndexKey = Box<[u8]>;

/// Stands before the bytes of a UUID; no subject has this byte.
const UUID_MARK: u8 = 1;
const DESCENDANTS_MARK: u8 = 2;
const TYPE_MARK: u8 = 3;

/// The keys under which the index lists one event.
#[derive(Debug)]
pub(crate) struct EventKeys {
    pub(crate) subject: IndexKey,
    /// One key for each subject above the event's own.
    pub(crate) ancestors: Vec<IndexKey>,
    pub(crate) event_type: IndexKey,
}

impl EventKeys {
    pub(crate) fn from_event(event: &RecordedEvent) -> Self {
        Self::new(event.subject.as_str(), event.event_type.as_str())
    }

    pub(crate) fn new(subject: &str, event_type: &str) -> Self {
        let slashes = subject.match_indices('/').map(|(position, _)| position);
        let ancestors =
            slashes.filter_map(|end| subject.get(..end).filter(|text| !text.is_empty()));
        Self {
            subject: subject_key(subject),
            ancestors: ancestors
                .map(|text| hashed(DESCENDANTS_MARK, text))
                .collect(),
            event_type: type_key(event_type),
        }
    }

    /// The number of index entries of the event.
    pub(crate) const fn len(&self) -> usize {
        self.ancestors.len().saturating_add(2)
    }

    pub(crate) fn into_keys(self) -> impl Iterator<Item = IndexKey> {
        let others = self.ancestors.into_iter().chain([self.event_type]);
        std::iter::once(self.subject).chain(others)
    }
}

/// Returns the key of the events of one subject. A UUID takes 17 bytes in it instead of 36: that is
/// a third of the index, and a third of what each compaction writes.
pub(crate) fn subject_key(subject: &str) -> IndexKey {
    let mut key = Vec::with_capacity(subject.len());
    let mut segments = subject.split('/');
    push_segment(&mut key, segments.next().unwrap_or_default());
    for segment in segments {
        key.push(b'/');
        push_segment(&mut key, segment);
    }
    key.into_boxed_slice()
}

/// Returns the key of the events of all subjects below one.
pub(crate) fn descendants_key(subject: &str) -> IndexKey {
    hashed(DESCENDANTS_MARK, subject.trim_end_matches('/'))
}

/// Returns the key of the events of one type.
pub(crate) fn type_key(event_type: &str) -> IndexKey {
    hashed(TYPE_MARK, event_type)
}

fn hashed(mark: u8, text: &str) -> IndexKey {
    let digest = Sha256::digest(text.as_bytes());
    std::iter::once(mark)
        .chain(digest.into_iter().take(8))
        .collect()
}

fn push_segment(key: &mut Vec<u8>, segment: &str) {
    match canonical_uuid(segment) {
        Some(uuid) => {
            key.push(UUID_MARK);
            key.extend_from_slice(uuid.as_bytes());
        }
        None => key.extend_from_slice(segment.as_bytes()),
    }
}

/// Returns the subject of a key, or `None` if the bytes are not the key of a text.
pub(crate) fn subject_of_key(mut key: &[u8]) -> Option<String> {
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

/// Returns the key of the subject directly below a base that the key of a descendant contains. `below_from`
/// is the key of the base with a slash at its end.
pub(crate) fn child_of_key<'a>(below_from: &[u8], key: &'a [u8]) -> Option<&'a [u8]> {
    let segment = key.strip_prefix(below_from)?;
    let uuid = if segment.first() == Some(&UUID_MARK) {
        size_of::<Uuid>().saturating_add(1)
    } else {
        0
    };
    let text = segment.get(uuid..)?;
    let end = text.iter().position(|byte| *byte == b'/');
    let rest = end.map_or(0, |end| text.len().saturating_sub(end));
    key.get(..key.len().saturating_sub(rest))
}

/// Parses a UUID in its usual form only: two texts must never have the same key.
fn canonical_uuid(segment: &str) -> Option<Uuid> {
    let is_canonical =
        segment.len() == 36 && !segment.bytes().any(|byte| byte.is_ascii_uppercase());
    is_canonical
        .then(|| Uuid::try_parse(segment).ok())
        .flatten()
}

/// The keys of a subject and of all subjects below it.
#[derive(Debug, Clone)]
pub(crate) struct SubjectKeyRange {
    pub(crate) base: IndexKey,
    /// The least key below the base.
    pub(crate) below_from: IndexKey,
    /// The least key after those below the base; `0` comes right after `/`.
    pub(crate) below_to: IndexKey,
}

impl SubjectKeyRange {
    pub(crate) fn for_subtree(subject: &str) -> Self {
        let base = subject_key(subject.trim_end_matches('/'));
        let followed_by = |end: &[u8]| [&base, end].concat().into();
        Self {
            below_from: followed_by(b"/"),
            below_to: followed_by(b"0"),
            base,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_uuid_in_its_usual_form_is_packed() {
        let uuid = "0199a3c2-7d4e-7c3a-9f00-0123456789ab";
        assert_eq!(subject_key(&format!("/books/{uuid}")).len(), 7 + 17);
        assert_eq!(
            subject_key(&format!("/books/{uuid}/pages/{uuid}")).len(),
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
            assert_eq!(&*subject_key(text), text.as_bytes());
        }
    }

    #[test]
    fn a_key_gives_its_subject_back() {
        // The bytes of this UUID hold slashes.
        let uuid = "2f2f2f2f-2f2f-2f2f-2f2f-2f2f2f2f2f2f";
        for subject in [
            "/".to_owned(),
            "/a".to_owned(),
            "/a/".to_owned(),
            format!("/{uuid}"),
            format!("/a/{uuid}/b/{uuid}/"),
        ] {
            assert_eq!(subject_of_key(&subject_key(&subject)), Some(subject));
        }
        assert_eq!(subject_of_key(b"/\xff"), None);
    }

    #[test]
    fn a_key_contains_the_child_of_each_subject_above_it() {
        // The bytes of this UUID hold slashes.
        let uuid = "2f2f2f2f-2f2f-2f2f-2f2f-2f2f2f2f2f2f";
        for (base, below, child) in [
            ("/", "/a", "/a"),
            ("/", "/a/b/c", "/a"),
            ("/a", "/a/b/c", "/a/b"),
            ("/a", "/a/", "/a/"),
            ("/a", "/a//b", "/a/"),
            ("/a", &format!("/a/{uuid}"), &format!("/a/{uuid}")),
            ("/a", &format!("/a/{uuid}/b"), &format!("/a/{uuid}")),
            ("/a", &format!("/a/b/{uuid}"), "/a/b"),
        ] {
            let range = SubjectKeyRange::for_subtree(base);
            let key = subject_key(below);
            let found = child_of_key(&range.below_from, &key);
            assert_eq!(found, Some(&*subject_key(child)), "{below}");
        }
        assert_eq!(child_of_key(b"/b/", b"/a/c"), None);
    }

    #[test]
    fn a_subject_and_those_below_it_are_a_range_of_keys() {
        let uuid = "0199a3c2-7d4e-7c3a-9f00-0123456789ab";
        let range = SubjectKeyRange::for_subtree(&format!("/books/{uuid}"));
        for (below, is_below) in [
            (format!("/books/{uuid}/pages"), true),
            (format!("/books/{uuid}/{uuid}"), true),
            (format!("/books/{uuid}/"), true),
            (format!("/books/{uuid}0"), false),
            ("/books".to_owned(), false),
        ] {
            let key = subject_key(&below);
            assert_eq!(
                range.below_from <= key && key < range.below_to,
                is_below,
                "{below}"
            );
        }
    }

    #[test]
    fn an_event_is_listed_below_each_subject_above_its_own() {
        let below = |subject| EventKeys::new(subject, "io.example.Happened").ancestors;
        let keys = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| descendants_key(text))
                .collect::<Vec<_>>()
        };
        assert_eq!(below("/"), keys(&[]));
        assert_eq!(below("/a"), keys(&[]));
        assert_eq!(below("/a/"), keys(&["/a"]));
        assert_eq!(below("/a/b/c"), keys(&["/a", "/a/b"]));
        assert_eq!(descendants_key("/a/"), descendants_key("/a"));
        assert_ne!(descendants_key("/a"), type_key("/a"));
    }
}
